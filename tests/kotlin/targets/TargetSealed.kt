// `when` over a sealed class has no default branch.
package targets.kotlin

private sealed class Result
private class Good(val value: Int) : Result() // covered
private object Bad : Result() // covered

private fun value(result: Result): Int = when (result) { // covered
    is Good -> result.value // covered
    Bad -> -1 // covered
} // covered

object TargetSealed {
    @JvmStatic
    fun main(arguments: Array<String>) {
        value(Good(1)) // covered
        value(Bad) // covered
    } // covered
}
