// Extension functions, operators and infix functions.
package targets.kotlin

private fun String.twice(): String = this + this // covered

private operator fun Int.times(text: String): String = text.repeat(this) // covered

private infix fun Int.unusedPlus(other: Int): Int = this + other // missed

object TargetExtensions {
    @JvmStatic
    fun main(arguments: Array<String>) {
        "a".twice() // covered
        3 * "a" // covered
    } // covered
}
