// The bridge of a generic method is left out.
package targets;

public class Bridges { // missed
    interface Source<T> {
        T get();
    }

    static class Text implements Source<String> { // covered
        @Override
        public String get() {
            return "text"; // covered
        }
    }

    static class Child extends Text implements Comparable<Child> { // covered
        @Override
        public int compareTo(Child other) {
            return 0; // missed
        }
    }

    public static void main(String[] arguments) {
        Source<?> source = new Text(); // covered
        source.get(); // covered
        new Child(); // covered
    } // covered
}
