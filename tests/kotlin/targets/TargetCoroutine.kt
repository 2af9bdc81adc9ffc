// The state machine of a `suspend` function is left out.
package targets.kotlin

import kotlin.coroutines.Continuation
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.resume
import kotlin.coroutines.startCoroutine
import kotlin.coroutines.suspendCoroutine

private var waiting: Continuation<Int>? = null

private suspend fun wait(): Int = suspendCoroutine { waiting = it } // covered

private suspend fun twice(): Int {
    val first = wait() // covered
    val second = wait() // covered
    return first + second // covered
}

private suspend fun direct(): Int {
    return 1 // covered
}

private suspend fun neverCalled(): Int {
    val first = wait() // missed
    return first // missed
}

object TargetCoroutine {
    @JvmStatic
    fun main(arguments: Array<String>) {
        val work: suspend () -> Int = { // covered
            twice() + direct() // covered
        }
        work.startCoroutine(Continuation(EmptyCoroutineContext) { }) // covered
        waiting?.resume(1) // branches 1/2
        waiting?.resume(2) // branches 1/2
    } // covered
}
