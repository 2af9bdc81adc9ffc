// Default arguments: their tests are the compiler's, their values are the program's.
package kotlincases

class Defaults(val a: Int = 1, val b: String = if (a > 0) "positive" else "not") {
    fun none(): Int = a

    fun one(a: Int = 1): Int = a

    fun several(a: Int, b: String = "b", c: Long = a.toLong(), d: Double = 1.0): String = "$a$b$c$d"

    fun branches(a: Boolean = true, b: String = if (a) "yes" else "no"): String = b

    fun ofNull(a: String? = null): Int = a?.length ?: 0

    fun String.extension(times: Int = 2): String = repeat(times)

    fun lambda(action: () -> Int = { 3 }): Int = action()

    fun safe(node: Node? = null, name: String? = node?.next?.name ?: "x"): String? = name

    private fun hidden(a: Int = 3): Int = a

    fun callHidden(): Int = hidden()

    suspend fun suspending(a: Int = 3): Int = a
}

open class Base {
    open fun overridden(a: Int = 1, b: Int = 2): Int = a + b

    protected open fun inherited(a: String = "a"): String = a
}

class Derived : Base() {
    override fun overridden(a: Int, b: Int): Int = a - b
}

interface WithDefault {
    fun run(a: Int = 1): Int
    fun body(a: Int = 1, b: Int = if (a > 1) 2 else 3): Int = a + b
}

class Many(
    val p01: Int = 1, val p02: Int = 1, val p03: Int = 1, val p04: Int = 1, val p05: Int = 1, val p06: Int = 1,
    val p07: Int = 1, val p08: Int = 1, val p09: Int = 1, val p10: Int = 1, val p11: Int = 1, val p12: Int = 1,
    val p13: Int = 1, val p14: Int = 1, val p15: Int = 1, val p16: Int = 1, val p17: Int = 1, val p18: Int = 1,
    val p19: Int = 1, val p20: Int = 1, val p21: Int = 1, val p22: Int = 1, val p23: Int = 1, val p24: Int = 1,
    val p25: Int = 1, val p26: Int = 1, val p27: Int = 1, val p28: Int = 1, val p29: Int = 1, val p30: Int = 1,
    val p31: Int = 1, val p32: Int = 1, val p33: Int = 1, val p34: String = "34", val p35: Long = 35L
)

fun topLevel(a: Int = 1, b: Int = a + 1): Int = a + b

fun manyArguments(
    p01: Int = 1, p02: Int = 1, p03: Int = 1, p04: Int = 1, p05: Int = 1, p06: Int = 1, p07: Int = 1, p08: Int = 1,
    p09: Int = 1, p10: Int = 1, p11: Int = 1, p12: Int = 1, p13: Int = 1, p14: Int = 1, p15: Int = 1, p16: Int = 1,
    p17: Int = 1, p18: Int = 1, p19: Int = 1, p20: Int = 1, p21: Int = 1, p22: Int = 1, p23: Int = 1, p24: Int = 1,
    p25: Int = 1, p26: Int = 1, p27: Int = 1, p28: Int = 1, p29: Int = 1, p30: Int = 1, p31: Int = 1, p32: Int = 1,
    p33: Int = 1, p34: Long = 2L
): Long = p01 + p33 + p34

class Only private constructor(val a: Int = 1, val b: Int = 2) {
    companion object {
        fun make(): Only = Only(b = 3)
    }
}

sealed class Tree(val size: Int = 1) {
    class Leaf(val text: String = "leaf") : Tree()
    class Fork(val left: Tree = Leaf(), val right: Tree = Leaf(left.toString())) : Tree(2)
}
