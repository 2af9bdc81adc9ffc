// Loops over ranges and collections, and ends of them.
package targets.kotlin

private fun count(numbers: List<Int>): Int {
    var count = 0 // covered
    for (number in numbers) { // covered
        if (number % 2 == 0) continue // covered
        count++ // covered
    }
    for (index in 10 downTo 1 step 3) { // branches 3/4
        count += index // covered
    }
    while (count > 1000) { // branches 1/2
        count-- // missed
    }
    return count // covered
}

object TargetLoops {
    @JvmStatic
    fun main(arguments: Array<String>) {
        count(listOf(1, 2, 3)) // covered
    } // covered
}
