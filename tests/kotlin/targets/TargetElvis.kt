// `?:` has two branches.
package targets.kotlin

private fun orEmpty(text: String?): String {
    return text ?: "" // covered
}

private fun orReturn(text: String?): Int {
    val known = text ?: return 0 // branches 1/2
    return known.length // covered
}

object TargetElvis {
    @JvmStatic
    fun main(arguments: Array<String>) {
        orEmpty("a") // covered
        orEmpty(null) // covered
        orReturn("a") // covered
    } // covered
}
