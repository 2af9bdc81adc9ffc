// Branches of `if`, and Groovy truth.
package targets.groovy

class GroovyIf {
    static int sign(int number) {
        if (number < 0) { // covered
            return -1 // partly
        } else if (number == 0) { // branches 2/4
            return 0 // covered
        }
        return 1 // missed
    }

    static String truth(Object value) {
        return value ? "true" : "false" // covered
    }

    static void main(String[] arguments) {
        sign(-1) // covered
        sign(0) // covered
        truth([]) // covered
        truth([1]) // covered
    } // covered
}
