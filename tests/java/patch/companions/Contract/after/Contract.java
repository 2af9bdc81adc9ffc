import java.util.function.Supplier;

/** An interface that gets methods. */
public interface Contract {
    String name();

    default String text() {
        Supplier<String> lambda = () -> name() + name();
        return "new " + more(3) + lambda.get() + fixed(2);
    }

    default String more(int number) {
        return name() + number;
    }

    static int fixed(int number) {
        return number + 1;
    }

    static String answer() {
        return new ContractOne().text() + ((Contract) () -> "two").text() + fixed(9);
    }
}

class ContractOne implements Contract {
    @Override
    public String name() {
        return "one";
    }

    String called() {
        return more(8);
    }
}
