// `@Composable` functions: the code that the Compose compiler puts around their bodies.
package ui

import androidx.compose.runtime.*

@Composable
fun Hello(name: String, loud: Boolean = false, other: Int = name.length) {
    val count = remember { mutableStateOf(0) }
    if (loud) {
        Text(name.uppercase())
    } else {
        Text(name)
    }
    Text("$other")
    LaunchedEffect(count.value) {
        count.value++
    }
}

@Composable
fun Text(text: String) {
    println(text)
}

@Composable
fun Box(content: @Composable () -> Unit) {
    content()
}

@Composable
fun Screen(items: List<String>) {
    Box {
        for (item in items) {
            Text(item)
        }
        when (items.size) {
            0 -> Text("none")
            1 -> return@Box
            else -> Hello("a")
        }
    }
}

@Composable
inline fun Inline(content: @Composable () -> Unit) {
    content()
}

@Composable
fun Early(x: Int?) {
    if (x == null) return
    Inline { Text("$x") }
    key(x) { Hello("b", loud = true) }
}

@Composable
@ReadOnlyComposable
fun readOnly(): Int = 3

@Composable
@NonRestartableComposable
fun NonRestartable(a: Any) {
    Text(a.toString())
}

@Composable
fun value(a: Int): Int {
    val x by remember { mutableIntStateOf(a) }
    return if (a > 3) x else readOnly()
}

@Composable
fun <T> Generic(t: T, vararg more: T, f: (T) -> String = { it.toString() }) {
    Text(f(t))
    for (m in more) Text(f(m))
}

class Model(val a: Int) {
    @Composable
    fun Show(modifier: Int = 1, lambda: (@Composable (Int) -> Unit)? = null) {
        lambda?.invoke(modifier)
        Text("$a")
    }

    val prop: String
        @Composable get() = remember { "x" }
}

interface Abstract {
    @Composable fun Content()
    @Composable fun WithDefault(a: Int = 3) { Text("$a") }
}

class Impl : Abstract {
    @Composable override fun Content() { Text("impl"); WithDefault() }
}

val lambda: @Composable (String) -> Unit = { Text(it) }
val many: @Composable (Int, Int, Int) -> Unit = { a, b, c -> if (a > b) Text("$c") }

@Composable
fun Effects(key: Any) {
    DisposableEffect(key) {
        onDispose { println("x") }
    }
    SideEffect { println("y") }
    val d by remember(key) { derivedStateOf { key.hashCode() } }
    CompositionLocalProvider { Text("$d") }
}

@Composable
fun Big(a: Int = 1, b: Int = 2, c: Int = 3, d: Int = 4, e: Int = 5, f: Int = 6, g: Int = 7, h: Int = 8, i: Int = 9, j: Int = 10, k: Int = 11, l: Any = "x") {
    Text("${a + b + c + d + e + f + g + h + i + j + k}$l")
}

@Composable
fun Empty() {
}

/** Calls `isTraceInProgress` as the compiler's code does, but is not composable. */
@OptIn(ComposeCompilerApi::class)
fun traced(composer: Composer) {
    if (isTraceInProgress()) {
        println("traced")
    }
    composer.endRestartGroup()?.updateScope { _, _ -> }
}
