// `when`: exhaustive ones without a default branch, and those on strings, which the compiler turns into hash codes.
package kotlincases

enum class Colour { RED, GREEN, BLUE }

sealed class Shape {
    data class Circle(val radius: Int) : Shape()
    class Square(val side: Int) : Shape()
    object Point : Shape()
}

sealed interface Answer
class Yes : Answer
class No : Answer

class Whens {
    fun exhaustiveEnum(colour: Colour): Int = when (colour) {
        Colour.RED -> 1
        Colour.GREEN -> 2
        Colour.BLUE -> 3
    }

    fun twoColoursInOneBranch(colour: Colour): Int = when (colour) {
        Colour.RED, Colour.GREEN -> 1
        Colour.BLUE -> 3
    }

    fun withElse(colour: Colour): Int = when (colour) {
        Colour.RED -> 1
        else -> 2
    }

    fun nullableEnum(colour: Colour?): Int = when (colour) {
        Colour.RED -> 1
        Colour.GREEN -> 2
        Colour.BLUE -> 3
        null -> 4
    }

    fun nullableEnumWithElse(colour: Colour?): Int = when (colour) {
        Colour.RED -> 1
        Colour.GREEN -> 2
        else -> 4
    }

    fun nullableEnumStatement(colour: Colour?) {
        when (colour) {
            Colour.RED -> println("red")
            Colour.GREEN -> println("green")
            Colour.BLUE -> println("blue")
            null -> println("none")
        }
    }

    fun statement(colour: Colour) {
        when (colour) {
            Colour.RED -> println("red")
            Colour.GREEN -> println("green")
            Colour.BLUE -> println("blue")
        }
    }

    fun sealedClass(shape: Shape): Int = when (shape) {
        is Shape.Circle -> shape.radius
        is Shape.Square -> shape.side
        Shape.Point -> 0
    }

    fun sealedInterface(answer: Answer): Boolean = when (answer) {
        is Yes -> true
        is No -> false
    }

    fun sealedStatement(answer: Answer) {
        when (answer) {
            is Yes -> println("yes")
            is No -> println("no")
        }
    }

    fun boolean(flag: Boolean): Int = when (flag) {
        true -> 1
        false -> 0
    }

    fun withoutSubject(a: Int, b: Int): Int = when {
        a > b -> 1
        a < b -> -1
        else -> 0
    }

    fun numbers(number: Int): String = when (number) {
        1 -> "one"
        2, 3 -> "few"
        in 4..9 -> "some"
        else -> "many"
    }

    fun guarded(shape: Shape, large: Int): Int = when (shape) {
        is Shape.Circle if shape.radius > large -> 2
        is Shape.Circle -> 1
        is Shape.Square -> 3
        Shape.Point -> 0
    }
}

class WhenStrings {
    fun expression(text: String): Int = when (text) {
        "a" -> 1
        "b" -> 2
        else -> 0
    }

    fun sameHash(text: String): Int = when (text) {
        "a" -> 1
        "Aa", "BB" -> 2
        "AaAa" -> 3
        "BBBB" -> 4
        "AaBB" -> 5
        else -> 0
    }

    fun largestHashFirst(text: String): Int = when (text) {
        "zzz" -> 1
        "b" -> 2
        "c" -> 3
        else -> 0
    }

    fun largestHashFirstTwice(text: String): Int = when (text) {
        "BB" -> 1
        "Aa" -> 4
        "b" -> 2
        "c" -> 3
        else -> 0
    }

    fun nullable(text: String?): Int = when (text) {
        "a" -> 1
        "b" -> 2
        "c" -> 3
        else -> 0
    }

    fun nullableWithNull(text: String?): Int = when (text) {
        "a" -> 1
        "b" -> 2
        null -> 3
        else -> 0
    }

    fun statement(text: String) {
        when (text) {
            "a" -> println("first")
            "b", "c" -> println("second")
        }
    }

    fun statementWithElse(text: String) {
        when (text) {
            "x" -> println("first")
            "y" -> println("second")
            else -> println("other")
        }
    }

    fun emptyString(text: String): Int = when (text) {
        "" -> 1
        "b" -> 2
        else -> 3
    }

    fun one(text: String): Int = when (text) {
        "only" -> 1
        else -> 2
    }

    fun inLoop(texts: List<String>): Int {
        var sum = 0
        for (text in texts) {
            when (text) {
                "a" -> sum += 1
                "b" -> sum += 2
                "skip" -> continue
                "stop" -> break
            }
        }
        return sum
    }

    fun of(call: () -> String): Int = when (val text = call()) {
        "a" -> text.length
        "b" -> 2
        else -> 0
    }
}
