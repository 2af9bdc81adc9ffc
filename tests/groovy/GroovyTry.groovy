// `try`, `catch` and `finally`.
package targets.groovy

class GroovyTry {
    static int parse(String text) {
        try {
            return Integer.parseInt(text) // covered
        } catch (NumberFormatException error) {
            return -1 // missed
        } finally {
            done() // partly
        }
    }

    static void done() {
    } // covered

    static void main(String[] arguments) {
        parse("1") // covered
    } // covered
}
