// Loops of each kind.
package targets.groovy

class GroovyLoops {
    static int sum(int upTo) {
        int sum = 0 // covered
        for (int i = 0; i < upTo; i++) { // covered
            sum += i // covered
        }
        for (number in [1, 2]) { // branches 3/4
            sum += number // covered
        }
        while (sum > 1000) { // branches 2/4
            sum-- // missed
        }
        return sum // covered
    }

    static void main(String[] arguments) {
        sum(3) // covered
    } // covered
}
