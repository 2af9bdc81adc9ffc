// `switch` over values, ranges and types.
package targets.groovy

class GroovySwitch {
    static String kind(Object value) {
        switch (value) { // covered
            case 1..9: // covered
                return "few" // partly
            case String: // branches 1/2
                return "text" // missed
            default:
                return "other" // covered
        }
    } // missed

    static void main(String[] arguments) {
        kind(3) // covered
        kind(1.5) // covered
    } // covered
}
