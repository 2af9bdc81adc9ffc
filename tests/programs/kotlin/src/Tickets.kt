package tickets

/** The Kotlin program that coverage is measured on: data and sealed classes, inline functions, defaults, when, coroutine-free lambdas. */
enum class Zone(val factor: Int) { INNER(2), OUTER(1) }

sealed class Passenger {
    abstract val name: String
    data class Adult(override val name: String, val pass: Boolean = false) : Passenger()
    data class Child(override val name: String, val age: Int) : Passenger()
    data object Dog : Passenger() {
        override val name get() = "dog"
    }
}

@JvmInline
value class Cents(val amount: Long) {
    operator fun plus(other: Cents) = Cents(amount + other.amount)
    override fun toString() = "${amount / 100}.${(amount % 100).toString().padStart(2, '0')}"
}

fun interface Discount {
    fun of(price: Cents): Cents
}

class Refused(message: String) : Exception(message)

inline fun <T> retry(times: Int, block: (Int) -> T?): T? {
    for (round in 1..times) {
        val result = block(round)
        if (result != null) return result
    }
    return null
}

class Office(private val discount: Discount = Discount { it }) {
    private val sold = mutableMapOf<String, Cents>()
    val total by lazy { sold.values.fold(Cents(0), Cents::plus) }
    lateinit var clerk: String

    fun price(passenger: Passenger, zone: Zone, zones: Int = 1): Cents = when (passenger) {
        is Passenger.Adult -> if (passenger.pass) Cents(0) else Cents(150L * zone.factor * zones)
        is Passenger.Child -> when (passenger.age) {
            in 0..5 -> Cents(0)
            in 6..14 -> Cents(80L * zones)
            else -> throw Refused("${passenger.name} is no child")
        }
        Passenger.Dog -> Cents(50)
    }

    fun sell(passenger: Passenger, zone: Zone): String {
        val price = try {
            discount.of(price(passenger, zone))
        } catch (refused: Refused) {
            return "refused: ${refused.message}"
        } finally {
            println("asked for ${passenger.name}")
        }
        sold[passenger.name] = price
        return "$passenger pays $price"
    }

    fun clerkOrNobody() = if (::clerk.isInitialized) clerk else "nobody"
}

fun day(text: String): String = when (text) {
    "sat", "sun" -> "weekend"
    "mon" -> "work"
    else -> "some day"
}

fun main(args: Array<String>) {
    val office = Office(Discount { Cents(it.amount * 9 / 10) })
    val queue = listOf(
        Passenger.Adult("ann"), Passenger.Adult("bob", pass = true), Passenger.Child("cid", 7),
        Passenger.Child("dan", 40), Passenger.Dog,
    )
    for ((index, passenger) in queue.withIndex()) {
        println(office.sell(passenger, if (index % 2 == 0) Zone.INNER else Zone.OUTER))
    }
    println("${office.total} ${office.clerkOrNobody()} ${retry(3) { round -> round.takeIf { it == 2 } }}")
    println(sequence { yield(1); yieldAll(listOf(2, 3)) }.map { it * it }.toList())
    println(args.firstOrNull()?.let(::day) ?: day("sun"))
    println(queue.filterIsInstance<Passenger.Child>().maxByOrNull { it.age }?.copy(name = "eve"))
}
