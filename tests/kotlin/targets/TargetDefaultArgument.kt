// The tests for default arguments are left out, the values are not.
package targets.kotlin

private fun greet(name: String = "you", mark: String = "!"): String { // covered
    return name + mark // covered
}

private class Point(val x: Int = 1, val y: Int = 2) // partly

object TargetDefaultArgument {
    @JvmStatic
    fun main(arguments: Array<String>) {
        greet() // covered
        greet("me") // covered
        Point(y = 3) // covered
    } // covered
}
