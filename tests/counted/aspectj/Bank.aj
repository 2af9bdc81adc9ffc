// Advice is code of the source; code that finds aspects and forwards calls is not.
package counted.aspects;

import org.aspectj.lang.JoinPoint;

class Account {
    int balance;

    void add(int amount) {
        balance += amount; // covered
    }

    int read() {
        return balance; // covered
    }

    private int secret = 3;
}

aspect Audit {
    int calls;

    pointcut changes(): execution(void Account.add(int));

    pointcut reads(Account account): execution(int Account.read()) && target(account);

    before(): changes() {
        calls++; // covered
        System.out.println(thisJoinPointStaticPart.getSignature().getName()); // covered
    }

    after() returning(int result): reads(Account) {
        calls += result; // covered
    }

    int around(Account account): reads(account) {
        if (account.balance < 0) { // covered
            return 0; // missed
        }
        return proceed(account); // covered
    }

    after() throwing(RuntimeException failure): changes() {
        calls = 0; // missed
    }

    int Account.twice() {
        return 2 * balance; // covered
    }

    int Account.factor = 5; // covered
}

privileged aspect Spy {
    void look(Account account) {
        account.secret++; // missed
    }
}

aspect PerObject perthis(execution(* Account.*(..))) {
    before(): execution(* Account.*(..)) {
        System.out.println("per"); // covered
    }
}

public class Bank {
    public static void main(String[] arguments) {
        Account account = new Account(); // covered
        account.add(4); // covered
        account.read(); // covered
        account.twice(); // covered
        account.factor++; // covered
    }
}
