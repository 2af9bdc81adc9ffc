package inventory

import scala.collection.immutable.SortedMap

sealed trait Item { def name: String; def price: BigDecimal }
final case class Book(name: String, price: BigDecimal, pages: Int = 100) extends Item
final case class Toy(name: String, price: BigDecimal)(val age: Int) extends Item
case object Nothing extends Item { val name = "nothing"; val price = BigDecimal(0) }

trait Monoid[A] { def zero: A; def plus(a: A, b: A): A }
object Monoid {
  implicit val sum: Monoid[BigDecimal] = new Monoid[BigDecimal] {
    def zero = BigDecimal(0)
    def plus(a: BigDecimal, b: BigDecimal) = a + b
  }
  implicit def pair[A, B](implicit a: Monoid[A], b: Monoid[B]): Monoid[(A, B)] = new Monoid[(A, B)] {
    def zero = (a.zero, b.zero)
    def plus(x: (A, B), y: (A, B)) = (a.plus(x._1, y._1), b.plus(x._2, y._2))
  }
}

class Shop(items: List[Item]) {
  lazy val total: BigDecimal = fold(items.map(_.price))
  def fold[A](all: List[A])(implicit monoid: Monoid[A]): A = all.foldLeft(monoid.zero)(monoid.plus)
  def kind(item: Item): String = item match {
    case Book(name, price, pages) if pages > 500 => s"thick $name at $price"
    case Book(name, _, _) => "book " + name
    case toy @ Toy(_, _) => f"toy for ${toy.age}%d"
    case Nothing => "-"
  }
  def byName: SortedMap[String, Item] = SortedMap(items.map(i => i.name -> i): _*)
  @annotation.tailrec final def countDown(n: Int): Int = if (n <= 0) n else countDown(n - 1)
  def either(text: String): Either[String, Int] =
    try Right(text.toInt) catch { case e: NumberFormatException => Left(e.getMessage) } finally println("parsed")
}

object Main extends App {
  val shop = new Shop(List(Book("b", 3), Toy("t", 4)(5), Nothing))
  for { (name, item) <- shop.byName; if item.price > 0 } println(name + ": " + shop.kind(item))
  println(shop.total)
  println(shop.either("x").fold(identity, _.toString))
}
