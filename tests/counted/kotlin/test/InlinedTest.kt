// The tests, which are no part of the report.
package counted.tests

import counted.Numbers
import counted.callsInlined
import counted.endsWithCall
import counted.endsWithEither
import counted.ifPositive
import counted.run
import counted.twice

fun main() {
    println(twice(1) { it + 1 })
    ifPositive(1) { println("positive") }
    var sum = 0
    Numbers(listOf(1, 2)).each { sum += it }
    println(sum)
    run { endsWithCall(1) }
    run { endsWithEither(1) }
    run { callsInlined() }
}
