// Objects, companions and `@JvmStatic`.
package targets.kotlin

object Registry {
    private val names = ArrayList<String>() // covered

    fun add(name: String) {
        names.add(name) // covered
    } // covered

    fun unused() {
        names.clear() // missed
    } // missed
}

class WithCompanion { // covered
    companion object {
        @JvmStatic
        fun make(): WithCompanion = WithCompanion() // covered

        const val LIMIT = 3 // nothing
    }
}

object TargetObjects {
    @JvmStatic
    fun main(arguments: Array<String>) {
        Registry.add("a") // covered
        WithCompanion.make() // covered
    } // covered
}
