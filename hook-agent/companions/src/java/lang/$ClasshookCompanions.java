package java.lang;

import java.lang.invoke.CallSite;
import java.lang.invoke.ConstantCallSite;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;

/**
 * Links the accessors of companions: classes beside a patched class that hold its added members.
 *
 * A companion gets the rights of a class in its own package and loader, and no others.
 */
public final class $ClasshookCompanions {
    private $ClasshookCompanions() {}

    /**
     * Returns the call site of an accessor.
     *
     * @param kind the reference kind of a method handle (JVMS 5.4.3.5)
     * @param owner the class that the reference names
     * @param host the class whose rights are used
     */
    public static CallSite link(
            Lookup caller, String name, MethodType type, int kind, Class<?> owner, Class<?> host)
            throws Throwable {
        Lookup lookup = lookup(caller, host);
        return new ConstantCallSite(find(lookup, name, type, kind, owner, host).asType(type));
    }

    private static MethodHandle find(
            Lookup lookup, String name, MethodType type, int kind, Class<?> owner, Class<?> host)
            throws ReflectiveOperationException {
        switch (kind) {
            case 1:
                return lookup.findGetter(owner, name, type.returnType());
            case 2:
                return lookup.findStaticGetter(owner, name, type.returnType());
            case 3:
                return lookup.findSetter(owner, name, type.parameterType(1));
            case 4:
                return lookup.findStaticSetter(owner, name, type.parameterType(0));
            case 6:
                return lookup.findStatic(owner, name, type);
            case 7:
                return lookup.findSpecial(owner, name, type.dropParameterTypes(0, 1), host);
            default:
                return lookup.findVirtual(owner, name, type.dropParameterTypes(0, 1));
        }
    }

    private static Lookup lookup(Lookup caller, Class<?> host) throws Throwable {
        Class<?> companion = caller.lookupClass();
        if ((caller.lookupModes() & Lookup.PRIVATE) == 0
                || companion.getClassLoader() != host.getClassLoader()
                || !packageOf(companion).equals(packageOf(host))) {
            throw new IllegalAccessException(companion.getName() + " is no companion of " + host.getName());
        }
        try {
            return (Lookup) MethodHandles.class
                    .getMethod("privateLookupIn", Class.class, Lookup.class)
                    .invoke(null, host, caller);
        } catch (NoSuchMethodException java8) {
            Field trusted = Lookup.class.getDeclaredField("IMPL_LOOKUP");
            trusted.setAccessible(true);
            return ((Lookup) trusted.get(null)).in(host);
        } catch (InvocationTargetException thrown) {
            throw thrown.getCause();
        }
    }

    private static String packageOf(Class<?> type) {
        String name = type.getName();
        return name.substring(0, name.lastIndexOf('.') + 1);
    }
}
