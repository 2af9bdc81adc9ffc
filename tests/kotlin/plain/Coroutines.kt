// Suspending functions and lambdas, which the compiler turns into state machines.
package kotlincases

import kotlin.coroutines.Continuation
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.intrinsics.COROUTINE_SUSPENDED
import kotlin.coroutines.intrinsics.suspendCoroutineUninterceptedOrReturn
import kotlin.coroutines.resume
import kotlin.coroutines.startCoroutine
import kotlin.coroutines.suspendCoroutine

suspend fun nothing() {
}

suspend fun value(number: Int): Int = number

suspend fun unit(number: Int) {
    println(number)
}

suspend fun tail(number: Int): Int = value(number + 1)

suspend fun tailUnit(number: Int) = unit(number)

suspend fun tailUnitBlock(number: Int) {
    unit(number)
}

suspend fun one(number: Int): Int {
    val first = value(number)
    return first + 1
}

suspend fun several(number: Int, text: String): String {
    val first = value(number)
    if (first > 3) {
        unit(first)
    }
    val second = value(first) + value(number)
    for (index in 0..second) {
        unit(index)
    }
    return text + second
}

suspend fun caught(number: Int): Int {
    try {
        unit(number)
    } catch (failure: IllegalStateException) {
        return value(3)
    } finally {
        unit(4)
    }
    return 5
}

suspend fun conditional(flag: Boolean) {
    if (flag) {
        unit(1)
    } else {
        unit(2)
    }
}

suspend fun choice(colour: Colour): Int = when (colour) {
    Colour.RED -> value(1)
    Colour.GREEN -> value(2)
    Colour.BLUE -> 3
}

suspend fun safe(node: Node?): Int? = node?.next?.measure()

suspend fun safeElvis(node: Node?): Int = node?.next?.measure() ?: 0

suspend fun Node.measure(): Int = value(name!!.length)

suspend fun metres(): Metres = Metres(value(3))

suspend fun maybeMetres(flag: Boolean): Metres? = if (flag) metres() else null

suspend fun callMetres(): Int {
    val metres = metres()
    val maybe = maybeMetres(true)
    return metres.value + (maybe?.value ?: 0)
}

suspend fun name(): Name = Name("name")

suspend fun callName(): String {
    val name = name()
    return name.toString()
}

suspend fun withDefault(number: Int = 3, text: String = "text"): String {
    unit(number)
    return text
}

suspend fun callDefault(): String = withDefault(text = "other") + withDefault(4)

suspend fun intrinsic(flag: Boolean): Int {
    val number = suspendCoroutineUninterceptedOrReturn<Int> { continuation ->
        if (flag) {
            continuation.resume(3)
            COROUTINE_SUSPENDED
        } else {
            4
        }
    }
    return number + 1
}

suspend fun intrinsicTail(): Int = suspendCoroutineUninterceptedOrReturn { 5 }

suspend fun intrinsicUnit() {
    suspendCoroutineUninterceptedOrReturn<Unit> { }
}

suspend fun resumed(): Int = suspendCoroutine { it.resume(3) }

suspend fun resumedTwice(): Int {
    val first: Int = suspendCoroutine { it.resume(3) }
    val second: Int = suspendCoroutine { it.resume(4) }
    return first + second
}

suspend inline fun inlined(action: suspend () -> Int): Int {
    unit(1)
    return action()
}

suspend fun callInlined(): Int {
    val first = inlined { value(3) }
    return first + inlined { 4 }
}

suspend fun loop(): Int {
    var sum = 0
    while (true) {
        sum += value(1)
        if (sum > 3) break
    }
    do {
        unit(sum)
        sum--
    } while (sum > 0)
    return sum
}

open class Suspending {
    open suspend fun open(number: Int): Int {
        unit(number)
        return number
    }

    private suspend fun hidden(): Int {
        unit(1)
        return 2
    }

    fun lambda(): suspend () -> Int = { hidden() }

    suspend fun recursive(depth: Int): Int = if (depth == 0) 0 else recursive(depth - 1) + 1
}

class SuspendingMore : Suspending() {
    override suspend fun open(number: Int): Int {
        val inherited = super.open(number)
        return inherited + 1
    }
}

interface Source {
    suspend fun next(): Int
    suspend fun nextTwo(): Int = next() + next()
}

class Numbers : Source {
    override suspend fun next(): Int = 1
}

fun <T> runNow(block: suspend () -> T) {
    block.startCoroutine(Continuation(EmptyCoroutineContext) { println(it) })
}

fun lambdas(node: Node?) {
    runNow { }
    runNow { 3 }
    runNow { unit(3) }
    runNow {
        unit(3)
        unit(4)
        node?.next?.name
    }
    runNow {
        val number = value(3)
        number + 1
    }
    val withParameter: suspend (Int, String) -> String = { number, text ->
        unit(number)
        text
    }
    val withoutSuspension: suspend (Int, String) -> String = { number, text -> text + number }
    val extension: suspend Node.(Int) -> Int = { it + measure() }
    runNow { withParameter(1, "a") + withoutSuspension(2, "b") + Node(null, "a").extension(3) }
    runNow { metres() }
    runNow { callMetres() + metres().value }
    val returnsMetres: suspend () -> Metres = { metres() }
    runNow { returnsMetres().value }
    val nested: suspend () -> suspend () -> Int = { { value(3) } }
    runNow { nested()() }
}

fun numbers(): Sequence<Int> = sequence {
    yield(1)
    for (number in 2..4) {
        yield(number)
    }
    yieldAll(listOf(5, 6))
}

object Anonymous {
    val action = object : Source {
        override suspend fun next(): Int {
            unit(1)
            return value(2)
        }
    }

    val reference: suspend (Int) -> Int = ::value
}
