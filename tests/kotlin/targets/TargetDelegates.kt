// Properties by `lazy`, and interfaces by an object.
package targets.kotlin

private interface Speaker {
    fun speak(): String
    fun shout(): String = speak().uppercase() // missed
}

private class Loud(private val speaker: Speaker) : Speaker by speaker // covered

private val simple = object : Speaker { // covered
    override fun speak(): String = "a" // covered
}

private class Cached { // covered
    val value: Int by lazy { // covered
        1 + 1 // covered
    }
    val unused: Int by lazy { // partly
        2 + 2 // missed
    }
}

object TargetDelegates {
    @JvmStatic
    fun main(arguments: Array<String>) {
        Loud(simple).speak() // covered
        Cached().value // covered
    } // covered
}
