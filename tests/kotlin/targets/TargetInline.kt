// Lines of an inline function count where it is declared.
package targets.kotlin

inline fun repeated(times: Int, work: (Int) -> Unit) {
    for (index in 0 until times) { // covered
        work(index) // covered
    }
} // covered

inline fun unused(work: () -> Unit) {
    work() // missed
} // missed

private fun sum(): Int {
    var sum = 0 // covered
    repeated(3) { // covered
        sum += it // covered
    } // covered
    return sum // covered
}

object TargetInline {
    @JvmStatic
    fun main(arguments: Array<String>) {
        sum() // covered
    } // covered
}
