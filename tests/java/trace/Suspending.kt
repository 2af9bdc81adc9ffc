package traced

import java.io.File
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicInteger
import kotlin.coroutines.Continuation
import kotlin.coroutines.intrinsics.COROUTINE_SUSPENDED
import kotlin.coroutines.intrinsics.suspendCoroutineUninterceptedOrReturn
import kotlin.coroutines.resume
import kotlin.coroutines.suspendCoroutine
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.coroutines.yield

/** The program's log of its calls: number, function, caller, nanoseconds within and around, and the kind of end. */
object Log {
    val lines = ConcurrentLinkedQueue<String>()
    private val calls = AtomicInteger()
    private val within = java.util.concurrent.ConcurrentHashMap<Int, Long>()

    fun next() = calls.incrementAndGet()

    fun within(call: Int, since: Long) {
        within[call] = System.nanoTime() - since
    }

    fun ended(call: Int, name: String, caller: Int, since: Long, how: String) {
        val around = System.nanoTime() - since
        lines.add("$call $name $caller ${within[call] ?: 0} $around $how")
    }
}

/** Calls a function with a number of its own, and logs the call. */
inline fun <T> called(name: String, caller: Int, function: (Int) -> T): T {
    val call = Log.next()
    val begin = System.nanoTime()
    var how = "returned"
    try {
        return function(call)
    } catch (thrown: Throwable) {
        how = thrown.javaClass.name
        throw thrown
    } finally {
        Log.ended(call, name, caller, begin, how)
    }
}

class Refused : RuntimeException()

open class Steps {
    open suspend fun step(call: Int): Int {
        val begin = System.nanoTime()
        delay(1)
        Log.within(call, begin)
        return call
    }
}

class Suspending : Steps() {
    /** Resumes three times, and calls functions that do not suspend in between. */
    suspend fun steps(call: Int): Int {
        val begin = System.nanoTime()
        for (round in 1..3) {
            delay(1)
            called("plain", call) { plain(it) }
        }
        Log.within(call, begin)
        return call
    }

    fun plain(call: Int) = call + 1

    suspend fun quick(call: Int) = call + 1

    /** Passes its continuation on, and is never entered again. */
    suspend fun passes(call: Int) = delay(2)

    suspend fun passesTwice(call: Int) = passesAgain(call)

    private suspend fun passesAgain(call: Int) = delay(2)

    override suspend fun step(call: Int): Int = super.step(call)

    suspend fun fails(call: Int): Int {
        val begin = System.nanoTime()
        delay(1)
        Log.within(call, begin)
        throw Refused()
    }

    suspend fun failsAtOnce(call: Int): Int = throw Refused()

    suspend fun passesFailure(call: Int): Int = failsLater(call)

    private suspend fun failsLater(call: Int): Int {
        yield()
        throw Refused()
    }

    /** Resumes on other threads. */
    suspend fun moves(call: Int): Int {
        val begin = System.nanoTime()
        val first = withContext(Dispatchers.IO) { called("steps", call) { steps(it) } }
        val second = withContext(Dispatchers.Default) { called("passes", call) { passes(it) } }
        Log.within(call, begin)
        return first + second.hashCode()
    }

    suspend fun descends(call: Int, depth: Int): Int {
        val begin = System.nanoTime()
        if (depth == 0) yield() else called("descends", call) { descends(it, depth - 1) }
        delay(1)
        Log.within(call, begin)
        return depth
    }

    /** Resumes before it has returned that it suspends. */
    suspend fun races(call: Int): Int {
        val begin = System.nanoTime()
        for (round in 1..20) {
            suspendCoroutine<Unit> { continuation -> Pool.execute { continuation.resume(Unit) } }
            called("plain", call) { plain(it) }
        }
        Log.within(call, begin)
        return call
    }

    suspend fun racesPassingOn(call: Int) = suspendCoroutineUninterceptedOrReturn<Unit> { continuation ->
        Pool.execute { continuation.resume(Unit) }
        COROUTINE_SUSPENDED
    }

    suspend fun collects(call: Int): Int {
        val begin = System.nanoTime()
        val all = flow {
            for (value in 1..3) {
                delay(1)
                emit(called("step", call) { step(it) })
            }
        }.toList()
        Log.within(call, begin)
        return all.size
    }

    suspend fun waits(call: Int, started: CompletableDeferred<Unit>): Int {
        val begin = System.nanoTime()
        started.complete(Unit)
        try {
            delay(1_000_000_000)
        } finally {
            Log.within(call, begin)
        }
        return call
    }

    suspend fun never(call: Int) {
        suspendCoroutine<Unit> { Kept.continuations.add(it) }
        plain(call)
    }

    /** It has no log, because it is called before the trace. */
    suspend fun early(gate: CompletableDeferred<Int>) = gate.await() + 1

    suspend fun forks(call: Int): Int = coroutineScope {
        val begin = System.nanoTime()
        val both = listOf(1, 2).map { async(Dispatchers.Default) { called("steps", 0) { steps(it) } } }
        val sum = both.sumOf { it.await() }
        Log.within(call, begin)
        sum
    }
}

object Pool {
    private val threads = java.util.concurrent.Executors.newFixedThreadPool(3) { task ->
        Thread(task).apply { isDaemon = true }
    }

    fun execute(task: Runnable) = threads.execute(task)
}

object Kept {
    val continuations = ConcurrentLinkedQueue<Continuation<Unit>>()
}

suspend fun all(of: Suspending) {
    called("steps", 0) { of.steps(it) }
    called("quick", 0) { of.quick(it) }
    called("passes", 0) { of.passes(it) }
    called("passesTwice", 0) { of.passesTwice(it) }
    called("step", 0) { of.step(it) }
    try { called("fails", 0) { of.fails(it) } } catch (expected: Refused) { }
    try { called("failsAtOnce", 0) { of.failsAtOnce(it) } } catch (expected: Refused) { }
    try { called("passesFailure", 0) { of.passesFailure(it) } } catch (expected: Refused) { }
    called("moves", 0) { of.moves(it) }
    called("descends", 0) { of.descends(it, 5) }
    called("races", 0) { of.races(it) }
    called("racesPassingOn", 0) { of.racesPassingOn(it) }
    called("collects", 0) { of.collects(it) }
    called("forks", 0) { of.forks(it) }
}

/** `main` takes the file for the log, and the number of coroutines; with a third argument it waits before and
 * behind. */
fun main(arguments: Array<String>) {
    val of = Suspending()
    val gate = CompletableDeferred<Int>()
    val early = CoroutineScope(Dispatchers.Unconfined).async { if (arguments.size > 2) of.early(gate) }
    if (arguments.size > 2) {
        println("up")
        readLine()
    }
    runBlocking {
        gate.complete(0)
        early.await()
        for (coroutine in 1..arguments[1].toInt()) {
            launch(Dispatchers.Default) { all(of) }
        }
        val started = CompletableDeferred<Unit>()
        val waiting = launch { called("waits", 0) { of.waits(it, started) } }
        started.await()
        waiting.cancel()
        launch(Dispatchers.Unconfined) { all(of) }
    }
    CoroutineScope(Dispatchers.Unconfined).launch { of.never(Log.next()) }
    File(arguments[0]).writeText(Log.lines.joinToString("\n", postfix = "\n"))
    if (arguments.size > 2) {
        println("done")
        readLine()
    }
}
