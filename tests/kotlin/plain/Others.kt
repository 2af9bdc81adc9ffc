// Code that no filter for Kotlin concerns, so that nothing else is left out.
package kotlincases

class Others {
    fun tryFinally(action: () -> Unit): Int {
        try {
            action()
        } finally {
            println("finally")
        }
        return 3
    }

    fun tryExpression(text: String): Int = try {
        text.toInt()
    } catch (failure: NumberFormatException) {
        -1
    } finally {
        println(text)
    }

    fun ranges(number: Int): Boolean = number in 1..10 || number !in 20 until 30

    fun destructuring(point: Point): Int {
        val (x, y, name) = point
        return if (name == null) x else y
    }

    fun smartCast(any: Any?): Int = if (any is String && any.isNotEmpty()) any.length else 0

    fun string(a: Int, b: String?): String = "a is $a, b is ${b ?: "nothing"}"

    fun arrays(array: IntArray): Int {
        var sum = 0
        for ((index, number) in array.withIndex()) {
            sum += index * number
        }
        return sum
    }

    fun labelled(list: List<List<Int>>): Int {
        outer@ for (inner in list) {
            for (number in inner) {
                if (number == 3) continue@outer
                if (number == 4) break@outer
            }
        }
        return 1
    }

    fun never(): Nothing = throw IllegalStateException()

    fun callsNever(flag: Boolean): Int {
        if (flag) never()
        return 1
    }

    fun assignedInCondition(flag: Boolean): Int {
        val number = if (flag) 1 else if (!flag) 2 else never()
        return number
    }

    fun unsigned(number: UInt): ULong = number.toULong() + 3u

    fun compare(a: Double?, b: Double?): Boolean = a == b || (a != null && b != null && a < b)

    tailrec fun tailRecursive(number: Int, sum: Int = 0): Int =
        if (number == 0) sum else tailRecursive(number - 1, sum + number)

    fun callableReference(): (Int) -> Boolean = this::ranges

    infix fun shl(bits: Int): Int = bits shl 2

    operator fun get(index: Int): Int = if (index > 0) index else 0

    val cached: Int
        get() {
            return field
        } 
    init {
        cached = if (this.toString().isEmpty()) 1 else 2
    }
}
