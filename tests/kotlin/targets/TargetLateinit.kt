// The check of a `lateinit` property is left out.
package targets.kotlin

private class Holder { // covered
    lateinit var text: String // covered

    fun length(): Int {
        return text.length // covered
    }
}

object TargetLateinit {
    @JvmStatic
    fun main(arguments: Array<String>) {
        val holder = Holder() // covered
        holder.text = "a" // covered
        holder.length() // covered
    } // covered
}
