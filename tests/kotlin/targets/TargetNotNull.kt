// `!!` and `as` have no branches of their own.
package targets.kotlin

private fun length(text: String?): Int {
    return text!!.length // covered
}

private fun cast(any: Any?): String {
    return any as String // covered
}

private fun safeCast(any: Any?): String? {
    return any as? String // covered
}

object TargetNotNull {
    @JvmStatic
    fun main(arguments: Array<String>) {
        length("a") // covered
        cast("a") // covered
        safeCast("a") // covered
        safeCast(1) // covered
    } // covered
}
