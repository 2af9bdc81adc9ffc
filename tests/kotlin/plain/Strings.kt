// `when` on strings that were stored some lines before.
package kotlincases.strings
fun normal(t: () -> String): Int {
    val s = t()
    when (s) {
        "a" -> return 1
        "b" -> return 2
        "c" -> return 3
    }
    return 4
}
fun largest(t: () -> String): Int {
    val s = t()
    when (s) {
        "zzz" -> return 1
        "b" -> return 2
        "c" -> return 3
    }
    return 4
}
fun allSame(t: () -> String): Int {
    val s = t()
    when (s) {
        "a", "b", "c" -> return 1
    }
    return 4
}
fun allSame2(s: String): Int {
    when (s) {
        "a", "b", "c" -> return 1
    }
    return 4
}
fun allSame3(s: String): Int {
    return when (s) {
        "a", "b", "c" -> 1
        else -> 4
    }
}
fun parameter(s: String): Int {
    when (s) {
        "a" -> return 1
        "b" -> return 2
        "c" -> return 3
    }
    return 4
}
fun two(s: String): Int {
    when (s) {
        "a" -> return 1
        "b", "c" -> return 2
    }
    return 4
}
fun collide(t: () -> String): Int {
    val s = t()
    when (s) {
        "Aa" -> return 1
        "BB" -> return 2
        "a" -> return 3
    }
    return 4
}
fun nullable(t: () -> String?): Int {
    val s = t()
    when (s) {
        "b" -> return 1
        "c" -> return 2
        "a" -> return 3
    }
    return 4
}
fun nullableLargest(t: () -> String?): Int {
    val s = t()
    when (s) {
        "x" -> return 1
        "c" -> return 2
        "a" -> return 3
    }
    return 4
}
fun gaps(s: String): Int = when (s) { "a" -> 1; "c" -> 2; "e" -> 3; else -> 4 }
fun gaps2(s: String): Int = when (s) { "e" -> 1; "c" -> 2; "a" -> 3; else -> 4 }
fun gaps3(s: String): Int = when (s) { "c" -> 1; "a" -> 2; "f" -> 3; "g" -> 5; else -> 4 }
