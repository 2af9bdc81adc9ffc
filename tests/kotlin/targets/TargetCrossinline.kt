// Lambdas that are stored, and lambdas that return from the enclosing function.
package targets.kotlin

private inline fun later(crossinline work: () -> Unit): () -> Unit = { // covered
    work() // missed
} // partly

private fun find(numbers: List<Int>): Int {
    numbers.forEach { // covered
        if (it > 1) { // covered
            return it // covered
        }
    } // covered
    return 0 // missed
}

object TargetCrossinline {
    @JvmStatic
    fun main(arguments: Array<String>) {
        later { println() } // covered
        find(listOf(1, 2)) // covered
    } // covered
}
