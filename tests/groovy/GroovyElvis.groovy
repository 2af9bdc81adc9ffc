// `?:` and `?.`.
package targets.groovy

class GroovyElvis {
    static Object or(Object value) {
        return value ?: "none" // covered
    }

    static Object length(String text) {
        return text?.length() // covered
    }

    static void main(String[] arguments) {
        or(null) // covered
        or("a") // covered
        length(null) // covered
    } // covered
}
