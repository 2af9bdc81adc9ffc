// `when` over values, ranges, types and an enum without `else`.
package targets.kotlin

enum class Level { LOW, MIDDLE, HIGH } // covered

private fun ofEnum(level: Level): Int = when (level) { // covered
    Level.LOW -> 1 // covered
    Level.MIDDLE -> 2 // covered
    Level.HIGH -> 3 // covered
} // covered

private fun ofNumber(number: Int): String = when (number) { // covered
    0 -> "none" // covered
    in 1..9 -> "few" // branches 3/6
    else -> "many" // missed
} // covered

private fun ofType(any: Any): Int = when (any) { // covered
    is String -> any.length // branches 1/2
    is Int -> any // missed
    else -> 0 // missed
} // covered

object TargetWhen {
    @JvmStatic
    fun main(arguments: Array<String>) {
        Level.entries.forEach { ofEnum(it) } // covered
        ofNumber(0) // covered
        ofNumber(5) // covered
        ofType("") // covered
    } // covered
}
