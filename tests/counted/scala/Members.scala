// Members that the compiler generates for classes, traits and objects are left out.
package counted

case class Point(x: Int, y: Int = 3) { // covered
  def norm: Int = {
    x * x + y * y // covered
  }
}

case class Label(text: String) // covered

case class Unused(text: String) // missed

case object Origin // covered

sealed trait Shape
case class Circle(center: Point, radius: Int) extends Shape // covered
final case class Square[A](side: A) extends Shape // covered

case class Money(cents: Int) { // covered
  override def toString: String = {
    "money" // missed
  }

  def copy(cents: Int): Money = {
    new Money(cents + 1) // missed
  }
}

object Money { // covered
  def of(euros: Int): Money = {
    Money(100 * euros) // covered
  }
}

trait Greeter { // covered
  def name: String
  val greeting: String = "hello" // covered
  lazy val both: String = {
    greeting + name // missed
  }
  def greet(times: Int = 2): String = { // nothing
    greeting * times // covered
  }
}

class Person(val name: String, var age: Int) extends Greeter { // covered
  lazy val doubled: Int = { // covered
    age * 2 // covered
  }
  lazy val never: Int = { // missed
    age * 3 // missed
  }
  def birthday(): Unit = {
    age += 1 // missed
  }
  def computed(years: Int = seven()): Int = {
    age + years // missed
  }
  private def seven(): Int = {
    7 // missed
  }
}

object Util { // covered
  val constant = 42 // covered
  lazy val late = { // covered
    constant + 1 // covered
  }
  def twice(action: Int => Int, number: Int = 1): Int = { // nothing
    action(action(number)) // covered
  }
  def run(): Int = twice(number => number + 1) // covered
  def unused(): Int = twice(number => number - 1) // missed
  implicit class Rich(val number: Int) extends AnyVal { // covered
    def plus(more: Int): Int = number + more // covered
  }
}

class Plain(val value: Int) // covered
object Plain { // covered
  def apply(value: Int): Plain = new Plain(value) // covered
  def unapply(plain: Plain): Option[Int] = Some(plain.value) // missed
  override def toString: String = "plain" // missed
}

object Main { // covered
  def describe(shape: Shape): String = shape match { // covered
    case Circle(Point(x, _), radius) if radius > 1 => "big" + x
    case Circle(_, _) => "small" // covered
    case Square(side) => "square" + side // covered
  }

  def main(arguments: Array[String]): Unit = {
    val point = Point(1) // covered
    println(point.norm) // covered
    println(new Label("a").text) // covered
    println(Money.of(3).cents) // covered
    println(new Person("a", 3).doubled) // covered
    println(new Person("a", 3).greet()) // covered
    println(Util.run() + Util.late) // covered
    println(describe(Circle(point, 2)) + describe(Circle(point, 0)) + describe(Square(1))) // covered
    import Util._
    println(3.plus(4)) // covered
    println(Plain(3).value) // covered
    println(Origin) // covered
  }
}
