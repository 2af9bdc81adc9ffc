// Null checks that the compiler writes: safe calls, their chains and elvis operators, `!!`, `as`, `lateinit`.
package kotlincases

class Node(val next: Node?, val name: String?) {
    var value: Int? = null
    fun follow(): Node? = next
    fun last(): Node = this
}

class Nulls {
    fun safeCall(node: Node?): String? = node?.name

    fun chain(node: Node?): String? = node?.next?.name

    fun longChain(node: Node?): String? = node?.next?.follow()?.next?.name

    fun chainOverLines(node: Node?): String? =
        node
            ?.next
            ?.follow()
            ?.name

    fun notNullInside(node: Node?): String? = node?.last()?.next?.last()?.name

    fun primitive(node: Node?): Int? = node?.next?.name?.length

    fun discarded(node: Node?) {
        node?.next?.follow()
    }

    fun discardedUnit(node: Node?) {
        node?.next?.let { println(it) }
    }

    fun elvis(node: Node?): String = node?.name ?: "none"

    fun elvisAfterChain(node: Node?): String = node?.next?.name ?: "none"

    fun elvisOfPrimitive(node: Node?): Int = node?.next?.name?.length ?: 0

    fun elvisThrow(node: Node?): String = node?.next?.name ?: throw IllegalStateException("none")

    fun elvisReturn(node: Node?): String {
        val name = node?.next?.name ?: return "none"
        return name + "!"
    }

    fun elvisOverLines(node: Node?): String =
        node
            ?.next
            ?.name
            ?: "none"

    fun elvisTwice(node: Node?): String = node?.name ?: node?.next?.name ?: "none"

    fun elvisPlain(name: String?): String = name ?: "none"

    fun assignment(node: Node?) {
        node?.value = 3
    }

    fun assignmentInChain(node: Node?) {
        node?.next?.value = 3
    }

    fun letChain(node: Node?): String? = node?.next?.let { it.name }?.trim()

    fun runChain(node: Node?): Int? = node?.run { next }?.name?.length

    fun comparison(node: Node?): Boolean = node?.next?.name == "a"

    fun comparisonOfPrimitives(node: Node?): Boolean = node?.name?.length == 3

    fun condition(node: Node?): Int {
        if (node?.next?.name != null) {
            return 1
        }
        return 0
    }

    fun local(node: Node?): String? {
        val next = node?.next
        return next?.name
    }

    fun inArgument(node: Node?): String = listOf(node?.next?.name, node?.name).toString()

    fun notNull(node: Node?): Node = node!!

    fun notNullChain(node: Node?): String = node!!.next!!.name!!

    fun notNullDiscarded(node: Node?) {
        node!!
    }

    fun cast(any: Any?): String = any as String

    fun castToNullable(any: Any?): String? = any as String?

    fun safeCast(any: Any?): String? = any as? String

    fun safeCastChain(any: Any?): Int? = (any as? Node)?.next?.name?.length

    fun safeCastElvis(any: Any?): String = (any as? Node)?.name ?: "no node"

    fun castOfGeneric(list: List<Any?>): String = list[0] as String

    fun <T> castToParameter(any: Any?): T = any as T
}

class Late {
    lateinit var name: String
    private lateinit var hidden: String
    lateinit var node: Node
        private set

    fun read(): String = name

    fun readHidden(): Int = hidden.length

    fun set(text: String) {
        name = text
        hidden = text
        node = Node(null, text)
    }

    fun isThere(): Boolean = this::name.isInitialized

    fun local(flag: Boolean): String {
        lateinit var text: String
        if (flag) text = "yes"
        return text
    }

    fun inLambda(): () -> String = { hidden + name }
}

lateinit var topLevel: String

fun readTopLevel(): Int = topLevel.length
