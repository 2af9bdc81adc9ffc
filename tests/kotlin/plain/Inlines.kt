// Inline functions: their lines are counted where they are declared, once any copy was executed.
package kotlincases

inline fun plainInline(number: Int): Int {
    println("inline")
    return number + 1
}

inline fun branchInline(number: Int, action: () -> Unit): Int {
    if (number > 3) {
        action()
    } else {
        println("small")
    }
    return number
}

inline fun nestedInline(number: Int): Int {
    val first = plainInline(number)
    return first + plainInline(number + 1)
}

inline fun <reified T> reifiedInline(any: Any): T? {
    if (any is T) {
        return any
    }
    return null
}

inline fun crossInline(crossinline action: () -> Unit): Runnable {
    return Runnable {
        println("cross")
        action()
    }
}

inline fun objectInline(crossinline action: () -> Int): Source2 = object : Source2 {
    override fun next(): Int {
        return action() + 1
    }
}

interface Source2 {
    fun next(): Int
}

inline fun withDefaultInline(number: Int = 3, action: (Int) -> Int = { it + 1 }): Int = action(number)

inline val Int.doubled: Int get() = this * 2

@Suppress("NOTHING_TO_INLINE")
private inline fun privateInline(text: String): String {
    return text.trim()
}

inline fun neverInlined(number: Int): Int {
    return number * 3
}

class Inlines {
    fun call(number: Int): Int = plainInline(number)

    fun callTwice(number: Int): Int {
        val first = plainInline(number)
        return plainInline(first)
    }

    fun callBranch(number: Int): Int = branchInline(number) { println("large") }

    fun callBranchOverLines(number: Int): Int =
        branchInline(number) {
            println("large")
            if (number > 10) {
                println("very large")
            }
        }

    fun callNested(number: Int): Int = nestedInline(number)

    fun callReified(any: Any): String? = reifiedInline<String>(any) ?: reifiedInline<Int>(any)?.toString()

    fun callCross(): Runnable = crossInline { println("crossed") }

    fun callObject(): Source2 = objectInline { 3 }

    fun callDefault(): Int = withDefaultInline() + withDefaultInline(4) { it * 2 }

    fun callProperty(number: Int): Int = number.doubled

    fun callPrivate(text: String): String = privateInline(text)

    fun callOfLibrary(list: List<Int?>): List<String> = list
        .filterNotNull()
        .filter { it > 3 }
        .map { it.toString() }

    fun callMember(): Int = member { 3 } + member { 4 }

    inline fun member(action: () -> Int): Int {
        val result = action()
        return if (result > 3) result else -result
    }

    fun scopes(text: String?): Int = text?.let { it.length }?.also { println(it) }?.takeIf { it > 3 } ?: run { 0 }

    fun synchronizedBlock(lock: Any): Int = synchronized(lock) {
        println("locked")
        3
    }

    fun used(resource: java.io.Closeable): Int = resource.use {
        println("used")
        if (it is java.io.InputStream) it.read() else 3
    }

    fun usedNullable(resource: java.io.Closeable?): Int = resource.use { 4 }

    fun autoClosed(resource: AutoCloseable): Int = resource.use { 4 }

    fun repeated(times: Int): Int {
        var sum = 0
        repeat(times) { sum += it }
        return sum
    }

    fun checked(number: Int) {
        require(number > 0) { "not positive" }
        check(number < 100)
        assert(number < 1000)
        assert(number < 1000) { "too large" }
    }

    fun nonLocal(list: List<Int>): Int {
        list.forEach { if (it > 3) return it }
        return 0
    }

    fun local(): Int {
        fun inner(number: Int = 3): Int = number
        return inner() + inner(4)
    }
}
