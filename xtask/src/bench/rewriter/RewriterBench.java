// The Java side of `cargo xtask bench rewriter`: java RewriterBench PACK LIBRARY TASK
//
// PACK holds classes, each as a length of four bytes, big-endian, and its bytes. Each line `pass N` on standard
// input rewrites the first N classes. The answer has the CPU time of the thread in ns, the bytes written, and the number
// of failed classes. Every library is used in its documented fast way; the ASM visitor keeps frames and computes no maxima.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.instruction.LineNumber;
import java.lang.classfile.instruction.ReturnInstruction;
import java.lang.classfile.instruction.ThrowInstruction;
import java.lang.constant.ClassDesc;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jacoco.core.instr.Instrumenter;
import org.jacoco.core.runtime.OfflineInstrumentationAccessGenerator;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

public class RewriterBench {
    private static final String OWNER = "java/lang/$Classhook";

    interface Rewriter {
        byte[] rewrite(byte[] original) throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        List<byte[]> classes = unpack(Files.readAllBytes(Path.of(arguments[0])));
        ThreadMXBean clock = ManagementFactory.getThreadMXBean();
        clock.getCurrentThreadCpuTime();
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        Rewriter rewriter = null;
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            int count = Math.min(classes.size(), Integer.parseInt(line.substring("pass ".length())));
            long written = 0;
            long failed = 0;
            long began = clock.getCurrentThreadCpuTime();
            if (rewriter == null) {
                rewriter = rewriter(arguments[1], arguments[2]);
            }
            for (int i = 0; i < count; i++) {
                try {
                    written += rewriter.rewrite(classes.get(i)).length;
                } catch (Exception | StackOverflowError error) {
                    failed++;
                }
            }
            long spent = clock.getCurrentThreadCpuTime() - began;
            System.out.println(spent + " " + written + " " + failed + " 0");
        }
    }

    private static List<byte[]> unpack(byte[] pack) {
        ByteBuffer rest = ByteBuffer.wrap(pack);
        List<byte[]> classes = new ArrayList<>();
        while (rest.hasRemaining()) {
            byte[] bytes = new byte[rest.getInt()];
            rest.get(bytes);
            classes.add(bytes);
        }
        return classes;
    }

    private static Rewriter rewriter(String library, String task) {
        boolean entry = !task.equals("lines");
        boolean exits = task.equals("exits");
        boolean lines = task.equals("lines");
        return switch (library) {
            case "asm" -> original -> withAsm(original, entry, exits, lines);
            case "jdk" -> {
                ClassFile context = ClassFile.of();
                yield original -> withJdk(context, original, entry, exits, lines);
            }
            case "jacoco" -> {
                Instrumenter instrumenter = new Instrumenter(new OfflineInstrumentationAccessGenerator());
                yield original -> instrumenter.instrument(original, "a class");
            }
            default -> throw new IllegalArgumentException(library);
        };
    }

    private static byte[] withAsm(byte[] original, boolean entry, boolean exits, boolean lines) {
        ClassReader reader = new ClassReader(original);
        ClassWriter writer = new ClassWriter(reader, 0);
        int[] probe = {0};
        reader.accept(new ClassVisitor(Opcodes.ASM9, writer) {
            @Override
            public MethodVisitor visitMethod(int access, String name, String type, String signature, String[] thrown) {
                MethodVisitor next = super.visitMethod(access, name, type, signature, thrown);
                boolean code = (access & (Opcodes.ACC_ABSTRACT | Opcodes.ACC_NATIVE)) == 0;
                return code ? new Inserter(next, probe, entry, exits, lines) : next;
            }
        }, 0);
        return writer.toByteArray();
    }

    private static final class Inserter extends MethodVisitor {
        private final int[] probe;
        private final boolean entry;
        private final boolean exits;
        private final boolean lines;
        /** Set at the start of a line: its frame, if any, comes before the inserted code. */
        private boolean begun;

        Inserter(MethodVisitor next, int[] probe, boolean entry, boolean exits, boolean lines) {
            super(Opcodes.ASM9, next);
            this.probe = probe;
            this.entry = entry;
            this.exits = exits;
            this.lines = lines;
        }

        private void insert() {
            super.visitFieldInsn(Opcodes.GETSTATIC, OWNER, "hits", "[B");
            super.visitIntInsn(Opcodes.SIPUSH, probe[0]++ & 0x7FFF);
            super.visitInsn(Opcodes.ICONST_1);
            super.visitInsn(Opcodes.BASTORE);
        }

        private void instruction() {
            if (begun) {
                begun = false;
                insert();
            }
        }

        @Override
        public void visitCode() {
            super.visitCode();
            if (entry) {
                insert();
            }
        }

        @Override
        public void visitLineNumber(int line, Label start) {
            super.visitLineNumber(line, start);
            begun = lines;
        }

        @Override
        public void visitInsn(int opcode) {
            instruction();
            if (exits && (opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN || opcode == Opcodes.ATHROW)) {
                insert();
            }
            super.visitInsn(opcode);
        }

        @Override
        public void visitIntInsn(int opcode, int operand) {
            instruction();
            super.visitIntInsn(opcode, operand);
        }

        @Override
        public void visitVarInsn(int opcode, int slot) {
            instruction();
            super.visitVarInsn(opcode, slot);
        }

        @Override
        public void visitTypeInsn(int opcode, String type) {
            instruction();
            super.visitTypeInsn(opcode, type);
        }

        @Override
        public void visitFieldInsn(int opcode, String owner, String name, String type) {
            instruction();
            super.visitFieldInsn(opcode, owner, name, type);
        }

        @Override
        public void visitMethodInsn(int opcode, String owner, String name, String type, boolean isInterface) {
            instruction();
            super.visitMethodInsn(opcode, owner, name, type, isInterface);
        }

        @Override
        public void visitInvokeDynamicInsn(String name, String type, Handle bootstrap, Object... values) {
            instruction();
            super.visitInvokeDynamicInsn(name, type, bootstrap, values);
        }

        @Override
        public void visitJumpInsn(int opcode, Label label) {
            instruction();
            super.visitJumpInsn(opcode, label);
        }

        @Override
        public void visitLdcInsn(Object value) {
            instruction();
            super.visitLdcInsn(value);
        }

        @Override
        public void visitIincInsn(int slot, int increment) {
            instruction();
            super.visitIincInsn(slot, increment);
        }

        @Override
        public void visitTableSwitchInsn(int min, int max, Label other, Label... labels) {
            instruction();
            super.visitTableSwitchInsn(min, max, other, labels);
        }

        @Override
        public void visitLookupSwitchInsn(Label other, int[] keys, Label[] labels) {
            instruction();
            super.visitLookupSwitchInsn(other, keys, labels);
        }

        @Override
        public void visitMultiANewArrayInsn(String type, int dimensions) {
            instruction();
            super.visitMultiANewArrayInsn(type, dimensions);
        }

        @Override
        public void visitMaxs(int stack, int locals) {
            super.visitMaxs(exits || lines ? stack + 3 : Math.max(stack, 3), locals);
        }
    }

    private static final ClassDesc HELPER = ClassDesc.ofInternalName(OWNER);
    private static final ClassDesc BYTES = ClassDesc.ofDescriptor("[B");

    private static byte[] withJdk(ClassFile context, byte[] original, boolean entry, boolean exits, boolean lines) {
        int[] probe = {0};
        CodeTransform transform = new CodeTransform() {
            private void insert(CodeBuilder code) {
                code.getstatic(HELPER, "hits", BYTES).sipush(probe[0]++ & 0x7FFF).iconst_1().bastore();
            }

            @Override
            public void atStart(CodeBuilder code) {
                if (entry) {
                    insert(code);
                }
            }

            @Override
            public void accept(CodeBuilder code, CodeElement element) {
                if (exits && (element instanceof ReturnInstruction || element instanceof ThrowInstruction)) {
                    insert(code);
                }
                code.with(element);
                if (lines && element instanceof LineNumber) {
                    insert(code);
                }
            }
        };
        return context.transformClass(context.parse(original), ClassTransform.transformingMethodBodies(transform));
    }
}
