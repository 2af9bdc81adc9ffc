// Inline functions that only the tests call, and functions that end with a call that suspends.
package counted

import kotlin.coroutines.Continuation
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.resume
import kotlin.coroutines.startCoroutine
import kotlin.coroutines.suspendCoroutine

inline fun twice(number: Int, action: (Int) -> Int): Int {
    val once = action(number) // covered
    return action(once) // covered
}

inline fun ifPositive(number: Int, action: () -> Unit) {
    if (number > 0) { // covered
        action() // covered
    } else {
        println("not positive") // missed
    }
} // covered

inline fun never(action: () -> Unit) {
    action() // missed
}

class Numbers(val all: List<Int>) {
    inline fun each(action: (Int) -> Unit) {
        for (number in all) { // covered
            action(number) // covered
        }
    } // covered
}

private var waiting: Continuation<Unit>? = null

suspend fun pause() = suspendCoroutine<Unit> { waiting = it } // covered

suspend fun endsWithCall(number: Int) {
    println(number) // covered
    pause() // covered
} // covered

suspend fun endsWithEither(number: Int) {
    if (number > 0) { // branches 1/2
        pause() // covered
    } else {
        endsWithCall(number) // missed
    }
} // partly

suspend fun neverCalled() {
    pause() // missed
} // missed

suspend inline fun inlinedTwice(action: suspend () -> Int): Int {
    val first = action() // covered
    return first + action() // covered
}

suspend fun callsInlined(): Int {
    return inlinedTwice { endsWithCall(1); 2 } // covered
}

fun run(work: suspend () -> Any) {
    work.startCoroutine(Continuation(EmptyCoroutineContext) { }) // covered
    while (true) {
        val next = waiting ?: break // covered
        waiting = null // covered
        next.resume(Unit) // covered
    }
} // covered
