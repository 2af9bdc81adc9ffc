// Members that the compiler generates for a data class are left out.
package targets.kotlin

private data class Pair(val left: Int, val right: String) { // partly
    val both: String
        get() = right + left // covered
}

object TargetDataClass {
    @JvmStatic
    fun main(arguments: Array<String>) {
        val pair = Pair(1, "a") // covered
        pair.both // covered
    } // covered
}
