// A chain of `?.` has two branches.
package targets.kotlin

private class Node(val next: Node?, val text: String?) // covered

private fun chain(node: Node?): Int? {
    return node?.next?.text?.length // covered
}

private fun chainOr(node: Node?): String {
    return node?.next?.text ?: "" // branches 3/6
}

private fun one(text: String?): Int? = text?.length // branches 1/2

object TargetSafeCall {
    @JvmStatic
    fun main(arguments: Array<String>) {
        chain(Node(Node(null, "a"), null)) // covered
        chain(null) // covered
        chainOr(Node(Node(null, "a"), null)) // covered
        one(null) // covered
    } // covered
}
