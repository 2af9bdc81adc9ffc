// The boxed form of a value class is left out.
package targets.kotlin

@JvmInline
value class Name(private val text: String) {
    init {
        require(text.isNotEmpty()) // branches 2/4
    }

    val length: Int
        get() = text.length // covered

    fun unused(): String = text // missed
}

object TargetValueClass {
    @JvmStatic
    fun main(arguments: Array<String>) {
        val name = Name("a") // covered
        name.length // covered
        val boxed: Any = name // covered
        boxed.hashCode() // covered
    } // covered
}
