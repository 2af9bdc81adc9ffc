// `try` as an expression, and `use`.
package targets.kotlin

private fun parse(text: String): Int = try { // covered
    text.toInt() // covered
} catch (error: NumberFormatException) { // covered
    -1 // covered
} finally {
    done() // covered
} // covered

private fun done() {
} // covered

private fun closes(): Int = AutoCloseable { done() }.use { // partly
    1 // covered
} // covered

object TargetTry {
    @JvmStatic
    fun main(arguments: Array<String>) {
        parse("1") // covered
        parse("x") // covered
        closes() // covered
    } // covered
}
