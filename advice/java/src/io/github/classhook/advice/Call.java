package io.github.classhook.advice;

import java.lang.invoke.MethodType;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.concurrent.ConcurrentHashMap;

/** A call in the program, which advice with {@link Around} runs. */
public final class Call {
    /** The methods by owner, name and descriptor. They belong to classes that the loader of this copy sees. */
    private static final ConcurrentHashMap<String, Object> METHODS = new ConcurrentHashMap<>();

    /** In place of a method that cannot be called. */
    private static final Object NONE = new Object();

    private final Method method;
    private final Object target;
    private final Object[] arguments;
    private final String owner;
    private final String descriptor;
    private final Object[] state;
    private final Thread thread;
    private boolean isReturned;
    private Object returned;
    private Throwable thrown;

    private Call(Method method, Object target, Object[] arguments, String owner, String descriptor, Object[] state) {
        this.method = method;
        this.target = target;
        this.arguments = arguments;
        this.owner = owner;
        this.descriptor = descriptor;
        this.state = state;
        thread = Thread.currentThread();
    }

    /** Runs the call, and returns its result; null for {@code void}. Throws what the call throws. */
    public Object proceed() throws Throwable {
        return run(arguments);
    }

    /** Runs the call with other arguments, one for each of {@link #arguments}. */
    public Object proceed(Object... others) throws Throwable {
        return run(others);
    }

    /** Returns the object whose method is called; null for a static method. */
    public Object target() {
        return target;
    }

    /** Returns a copy of the arguments. */
    public Object[] arguments() {
        return arguments.clone();
    }

    /** Returns the class that the call names: {@code java.net.http.HttpClient}. */
    public String owner() {
        return owner;
    }

    /** Returns the name of the called method. */
    public String name() {
        return method.getName();
    }

    /** Returns the descriptor of the called method: {@code (Ljava/lang/String;I)V}. */
    public String descriptor() {
        return descriptor;
    }

    /** Returns {@code com.acme.Shop.find(...)}: class and name. */
    @Override
    public String toString() {
        return owner + "." + method.getName();
    }

    private Object run(Object[] with) throws Throwable {
        boolean isOwn = Thread.currentThread() == thread;
        if (isOwn) {
            AdviceGuard.end(state); // the call may have advice, too
        }
        isReturned = false;
        thrown = null;
        try {
            returned = method.invoke(target, with);
            isReturned = true;
            return returned;
        } catch (InvocationTargetException by) {
            thrown = by.getCause();
            throw thrown;
        } finally {
            if (isOwn) {
                AdviceGuard.resume(state);
            }
        }
    }

    /** Begins a call, an object of this class. Returns null if the thread runs advice already, or the method cannot be called from here. */
    static Object begin(Object target, Object[] arguments, String owner, String name, String descriptor) {
        Object[] state = AdviceGuard.enter();
        if (state == null) {
            return null;
        }
        Object found = null;
        try {
            found = find(owner, name, descriptor);
        } catch (Throwable full) {
            // There is no stack or memory left.
        }
        Call call = found instanceof Method ? new Call((Method) found, target, arguments, owner, descriptor, state) : null;
        AdviceGuard.end(state);
        return call;
    }

    /** The thread runs the advice from here on. */
    static void start(Call call) {
        AdviceGuard.resume(call.state);
    }

    /** Ends the call: the advice has returned. */
    static void end(Call call) {
        AdviceGuard.end(call.state);
    }

    /** Ends the call: the advice has thrown this. Returns the result of the call, or throws its exception. */
    static Object failed(Call call, Throwable thrown, String advice, int number) throws Throwable {
        if (thrown == call.thrown) {
            end(call);
            throw thrown;
        }
        AdviceGuard.failed(thrown, advice, number);
        if (call.isReturned) {
            return call.returned;
        }
        if (call.thrown != null) {
            throw call.thrown;
        }
        try {
            return call.method.invoke(call.target, call.arguments);
        } catch (InvocationTargetException by) {
            throw by.getCause();
        }
    }

    private static Object find(String owner, String name, String descriptor) {
        String key = owner + "." + name + descriptor;
        Object known = METHODS.get(key);
        if (known == null) {
            known = search(owner, name, descriptor);
            METHODS.put(key, known);
            if (known == NONE) {
                System.err.println("warning[H0746]: advice around calls of " + owner + "." + name
                        + " does not run: reflection cannot call it from here");
            }
        }
        return known;
    }

    private static Object search(String owner, String name, String descriptor) {
        try {
            ClassLoader loader = Call.class.getClassLoader();
            MethodType type = MethodType.fromMethodDescriptorString(descriptor, loader);
            Method found = search(Class.forName(owner, false, loader), name, type.parameterArray(), type.returnType());
            return found == null ? NONE : found;
        } catch (Throwable missing) {
            return NONE;
        }
    }

    /** Finds the method in a class, its superclasses and its interfaces (JVMS 5.4.3.3). */
    private static Method search(Class<?> in, String name, Class<?>[] types, Class<?> result) {
        for (Class<?> at = in; at != null; at = at.getSuperclass()) {
            for (Method method : at.getDeclaredMethods()) {
                boolean isIt = method.getName().equals(name) && method.getReturnType() == result;
                if (isIt && Arrays.equals(method.getParameterTypes(), types) && isOpen(method)) {
                    return method;
                }
            }
        }
        for (Class<?> at = in; at != null; at = at.getSuperclass()) {
            for (Class<?> by : at.getInterfaces()) {
                Method found = search(by, name, types, result);
                if (found != null) {
                    return found;
                }
            }
        }
        return in.isInterface() ? search(Object.class, name, types, result) : null;
    }

    private static boolean isOpen(Method method) {
        try {
            method.setAccessible(true);
            return true;
        } catch (RuntimeException closed) { // of a module that is not open
            int of = method.getDeclaringClass().getModifiers();
            return Modifier.isPublic(method.getModifiers()) && Modifier.isPublic(of);
        }
    }
}
