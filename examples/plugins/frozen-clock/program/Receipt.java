import java.time.LocalDate;
import java.time.ZonedDateTime;

/** Prints its date. */
public class Receipt {
    public static void main(String[] arguments) {
        System.out.println("written " + LocalDate.now() + ", to be paid until " + LocalDate.now().plusDays(14));
        System.out.println("year " + ZonedDateTime.now().getYear() + ", after " + System.currentTimeMillis() + " ms");
    }
}
