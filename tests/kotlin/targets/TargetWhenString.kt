// `when` over strings: the comparisons count as one switch.
package targets.kotlin

private fun number(text: String): Int = when (text) { // branches 2/4
    "one" -> 1 // covered
    "two" -> 2 // missed
    "Aa", "BB" -> 3 // covered
    else -> 0 // missed
} // covered

object TargetWhenString {
    @JvmStatic
    fun main(arguments: Array<String>) {
        number("one") // covered
        number("BB") // covered
    } // covered
}
