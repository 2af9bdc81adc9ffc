// Members that the compiler of Scala 3 generates for classes, traits, enumerations and objects are left out.
package counted

case class Point(x: Int, y: Int = 3): // covered
  def norm: Int =
    x * x + y * y // covered

case class Unused(text: String) // missed

case object Origin // covered

enum Color: // covered
  case Red, Green // covered
  case Mixed(share: Int) // covered
  def isRed: Boolean =
    ordinal == 0 // branches 1/2

enum Level(val weight: Int): // covered
  case Low extends Level(1) // covered
  case High extends Level(9) // covered

case class Money(cents: Int): // covered
  override def toString: String =
    cents.toString // missed
  def copy(cents: Int): Money =
    new Money(cents + 1) // missed

object Money:
  def of(euros: Int): Money =
    Money(100 * euros) // covered

trait Greeter:
  def name: String
  val greeting: String = "hello" // covered
  lazy val both: String =
    greeting + name // missed
  def greet(times: Int = 2): String =
    greeting * times // covered

class Person(val name: String, var age: Int) extends Greeter: // covered
  lazy val doubled: Int = // nothing
    val half = age // covered
    half * 2 // covered
  lazy val never: Int = // nothing
    age * 3 // missed
  lazy val short: Int = age + 1 // covered
  lazy val checked: Int = // nothing
    if age > 2 then 1 // branches 1/2
    else 2 // missed
  def birthday(): Unit =
    age += 1 // missed
  def computed(years: Int = seven()): Int = // missed
    age + years // missed
  // The constructor ends on the last line of the class.
  private def seven(): Int =
    age + 7 // partly

object Util:
  val constant = 42 // covered
  lazy val late = // nothing
    constant + 1 // covered
  def twice(action: Int => Int, number: Int = 1): Int = // nothing
    action(action(number)) // covered
  def run(): Int = twice(number => number + 1) // covered
  def unused(): Int = twice(number => number - 1) // missed

trait Show[A]:
  def show(value: A): String

given Show[Int] with // covered
  def show(value: Int): String =
    "int " + value // covered

given textShow: Show[String] = value => "text " + value // covered

extension (number: Int)
  def plus(more: Int): Int =
    number + more // covered
  def minus(more: Int): Int =
    number - more // missed

def display[A](value: A)(using show: Show[A]): String =
  show.show(value) // covered

opaque type Meters = Int
object Meters:
  def of(value: Int): Meters =
    value // covered

class Exporter(val inner: Person): // covered
  export inner.{birthday, doubled}

object Main:
  def describe(color: Color): String = color match // covered
    case Color.Mixed(share) => "mixed " + share // branches 2/2
    case _ => "plain" // covered

  def main(arguments: Array[String]): Unit =
    println(Point(1).norm) // covered
    println(Money.of(3).cents) // covered
    println(new Person("a", 3).doubled) // covered
    println(new Person("a", 3).short) // covered
    println(new Person("a", 3).checked) // covered
    println(new Person("a", 3).greet()) // covered
    println(Util.run() + Util.late) // covered
    println(describe(Color.Red) + describe(Color.Mixed(2)) + Color.Red.isRed) // covered
    println(Level.High.weight) // covered
    println(display(3) + display("a")) // covered
    println(3.plus(4)) // covered
    println(Meters.of(3)) // covered
    println(Exporter(new Person("b", 2)).doubled) // covered
    println(Origin) // covered
