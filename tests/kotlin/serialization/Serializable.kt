// Members that the plugin for `@Serializable` generates.
package kotlincases.serial

import kotlinx.serialization.KSerializer
import kotlinx.serialization.SerialName
import kotlinx.serialization.Serializable
import kotlinx.serialization.Transient
import kotlinx.serialization.descriptors.PrimitiveKind
import kotlinx.serialization.descriptors.PrimitiveSerialDescriptor
import kotlinx.serialization.descriptors.SerialDescriptor
import kotlinx.serialization.encoding.Decoder
import kotlinx.serialization.encoding.Encoder

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

object OwnSerializer : KSerializer<Own> {
    override val descriptor: SerialDescriptor = PrimitiveSerialDescriptor("Own", PrimitiveKind.STRING)
    override fun serialize(encoder: Encoder, value: Own) = encoder.encodeString(value.text)
    override fun deserialize(decoder: Decoder): Own = Own(decoder.decodeString())
}

@Serializable(with = OwnSerializer::class)
class Own(val text: String)

class Written {
    companion object {
        fun serializer(): KSerializer<Own> = OwnSerializer

        val other: KSerializer<Own> = OwnSerializer
    }
}

object WrittenObject {
    fun serializer(): KSerializer<Own> {
        return OwnSerializer
    }
}

class WrittenInOneLine { companion object { fun serializer(): KSerializer<Own> = OwnSerializer } }
