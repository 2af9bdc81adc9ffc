// Members that the plugin for `@Serializable` makes.
package kotlincases.serial

import kotlinx.serialization.SerialName
import kotlinx.serialization.Serializable
import kotlinx.serialization.Transient

@Serializable
data class Plain(val a: Int, val b: String = "b", val c: List<String>, val d: List<Int>? = null)

@Serializable
class WithBody(val number: Int) {
    @Transient
    var hidden = 3

    @SerialName("other")
    val text: String = if (number > 3) "large" else "small"

    init {
        require(number >= 0)
    }

    fun twice(): Int = number * 2
}

@Serializable
enum class Serialized { FIRST, SECOND }

@Serializable
enum class SerializedNamed { @SerialName("a") FIRST, SECOND }

@Serializable
object Single {
    val one = 1
}

@Serializable
sealed class Base {
    @Serializable
    data class First(val data: String) : Base()

    @Serializable
    object Second : Base()
}

@Serializable
sealed interface BaseInterface

@Serializable
class Implementation(val a: Int) : BaseInterface

@Serializable
data class Box<out T1, out T2>(val first: T1, val second: T2)

@Serializable
@JvmInline
value class Wrapped(val text: String)

@Serializable
class WithCompanion(val a: Long) {
    companion object {
        fun make(): WithCompanion = WithCompanion(3)
    }
}

@Serializable
class WithNamedCompanion(val a: Long, val w: Wrapped) {
    companion object Factory {
        fun make(): WithNamedCompanion = WithNamedCompanion(3, Wrapped("w"))
        val constant = listOf(1, 2)
    }
}

@Serializable
open class Open(val a: Int = 3)

@Serializable
class Derived(val b: Int = 4) : Open(5)

class NotSerializable {
    companion object {
        fun serializer(): String = "mine"
    }
}
