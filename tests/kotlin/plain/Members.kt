// Members that the compiler generates: of data, value and enum classes, objects, interfaces with code, and for Java.
package kotlincases

data class Point(val x: Int, val y: Int = 0, val name: String?)

data class Empty(val nothing: Unit)

enum class Level(val weight: Int) {
    LOW(1), HIGH(2) {
        override fun describe() = "very high"
    };

    open fun describe(): String = name.lowercase()
}

enum class Bare { A, B }

@JvmInline
value class Metres(val value: Int) {
    constructor(text: String) : this(text.toInt())

    init {
        require(value >= 0) { "negative" }
    }

    val half: Int get() = value / 2

    fun plus(other: Metres): Metres = Metres(value + other.value)

    fun orZero(other: Metres?): Int = other?.value ?: 0

    companion object {
        val ZERO = Metres(0)
        fun of(value: Int) = Metres(value)
    }
}

@JvmInline
value class Name(private val text: String) : Comparable<Name> {
    override fun compareTo(other: Name): Int = text.compareTo(other.text)
    override fun toString(): String = if (text.isEmpty()) "none" else text
}

class Holder(val metres: Metres, val maybe: Metres?) {
    fun take(metres: Metres, times: Int = 2): Metres = Metres(metres.value * times)
    var last: Metres = metres
        private set
}

@OptIn(ExperimentalStdlibApi::class)
class Exposed @JvmExposeBoxed constructor(@get:JvmExposeBoxed val metres: Metres) {
    @JvmExposeBoxed
    fun twice(metres: Metres): Metres = Metres(metres.value * 2)

    @JvmExposeBoxed("named")
    fun other(metres: Metres): Int = if (metres.value > 3) 1 else 0

    @JvmExposeBoxed
    fun several(metres: Metres, text: String, long: Long, name: Name): String = "$metres $text $long $name"
}

@OptIn(ExperimentalStdlibApi::class)
@JvmExposeBoxed
class ExposedWhole(val metres: Metres) {
    fun twice(metres: Metres): Metres = Metres(metres.value * 2)
    fun plain(number: Int): Int = if (number > 2) 1 else 2
}

@OptIn(ExperimentalStdlibApi::class)
@JvmExposeBoxed
@JvmInline
value class ExposedValue(val value: Int) {
    fun next(): ExposedValue = ExposedValue(value + 1)
}

@OptIn(ExperimentalStdlibApi::class)
@JvmExposeBoxed
fun exposedTopLevel(metres: Metres): Metres = metres

object Singleton {
    private var count = 0

    @JvmStatic
    fun next(): Int = ++count

    @JvmStatic
    val size: Int get() = if (count > 3) 3 else count

    fun plain(): Int = count
}

class WithCompanion {
    private val secret = 1

    companion object {
        const val CONSTANT = 1
        private var hidden = "hidden"

        @JvmField
        val field = "field"

        @JvmStatic
        var shared: String = "shared"

        @JvmStatic
        fun create(): WithCompanion = WithCompanion()

        @JvmStatic
        fun create(a: Int, b: Long, c: String?): WithCompanion? = if (a > b) WithCompanion() else null

        @JvmStatic
        @JvmOverloads
        fun several(a: Int = 1, b: Double = 2.0, vararg c: String): Int = a + b.toInt() + c.size

        @JvmStatic
        private fun reset() {
            hidden = ""
        }

        @JvmStatic
        fun nothing() = Unit

        fun plain(): Int = WithCompanion().secret
    }

    fun read(): String = hidden

    fun call() = reset()
}

class Named {
    companion object Factory {
        @JvmStatic
        fun make(): Named = Named()
    }
}

interface Greeter {
    val greeting: String get() = "hello"

    fun greet(name: String): String {
        return "$greeting $name"
    }

    fun twice(name: String, times: Int = 2): String {
        return greet(name).repeat(times)
    }

    fun done() {
        println("done")
    }

    companion object {
        @JvmStatic
        fun polite(): Greeter = object : Greeter {}
    }
}

interface Loud : Greeter {
    override fun greet(name: String): String = super.greet(name).uppercase()
}

interface Generic<T> {
    fun map(value: T): T = value
    fun number(a: Long, b: Double, c: T?): Long = a + b.toLong()
}

class Person : Greeter, Generic<String> {
    override fun greet(name: String): String = super.greet(name) + "!"
}

class Plain : Loud, Generic<Int>

abstract class HalfDone : Greeter

class Delegating(greeter: Greeter) : Greeter by greeter

class Lazily {
    val computed: String by lazy { "computed" }
    var observed: Int by kotlin.properties.Delegates.observable(1) { _, old, new -> println(old + new) }
    private var counter = 0

    inner class Inner {
        fun touch(): Int = ++counter
    }

    val lambda = { counter += 1 }

    val accessor = Runnable { hidden() }

    private fun hidden() {
        counter--
    }
}

class Overloaded @JvmOverloads constructor(val a: Int = 1, val b: String = "b", val c: Long = 3L) {
    @JvmOverloads
    fun run(a: Int = 1, b: Double, c: String? = null): String = "$a$b$c"

    @JvmOverloads
    fun noDefaults(a: Int): Int = a
}

interface Reply {
    val text: String

    companion object {
        @JvmStatic
        @JvmOverloads
        @JvmName("create")
        operator fun invoke(text: String, version: Int = 1): Reply =
            object : Reply {
                override val text = text + version
            }
    }
}

@JvmOverloads
fun overloadedTopLevel(a: Int = 1, b: Boolean = a > 0, vararg c: String): Int = if (b) a + c.size else 0

class Secondary {
    val text: String

    @JvmOverloads
    constructor(text: String, number: Int = 2) {
        this.text = text + number
    }
}

annotation class Marker(val name: String, val level: Int = 3)

fun interface Action {
    fun act(number: Int): Int
}

fun action(): Action = Action { number -> if (number > 0) 1 else -1 }

class Synthetic {
    @JvmSynthetic
    fun invisible(flag: Boolean): Int {
        return if (flag) 1 else 2
    }

    @Deprecated("old", level = DeprecationLevel.HIDDEN)
    fun hidden(): Int = 3
}

private class Secret(val value: Int)

private fun topLevelSecret(): Int = Secret(1).value

class UsesSecret {
    fun use(): () -> Int = { topLevelSecret() }
}
