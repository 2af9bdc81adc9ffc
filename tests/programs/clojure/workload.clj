; A fixed piece of work for Clojure: persistent data, macros, protocols, transducers, specs, laziness.
(ns workload
  (:require [clojure.string :as string]
            [clojure.set :as set]
            [clojure.walk :as walk]
            [clojure.spec.alpha :as spec]))

(defprotocol Shape
  (area [this])
  (describe [this]))

; No type of its own: deftype walks through the methods that reflection lists of a class, and the JVM lists them in
; the order of addresses, which an agent changes.
(extend-protocol Shape
  Long
  (area [n] (* 3 n n))
  (describe [n] (str "circle of about " (area n)))
  String
  (area [s] (count s))
  (describe [s] (format "box %s of %d" s (area s))))

(defmacro unless [test & body] `(if ~test nil (do ~@body)))

(defmulti spoken class)
(defmethod spoken Long [n] (str "number " n))
(defmethod spoken String [s] (str "text " s))
(defmethod spoken :default [x] "something")

(spec/def ::age (spec/and int? #(< 0 % 150)))

(println (map describe [2 "xyz"]))
(println (unless false :ran))
(println (map spoken [1 "one" :one]))
(println (reduce + (take 10 (filter odd? (iterate inc 1)))))
(println (into [] (comp (map inc) (filter even?) (partition-all 2)) (range 10)))
(println (sort-by val > (frequencies (string/split "a b a c b a" #" "))))
(println (set/union (sorted-set 1 2) #{3}) (set/difference #{1 2} #{2}))
(println (walk/postwalk #(if (number? %) (inc %) %) {:a [1 2 {:b 3}]}))
(println (spec/valid? ::age 42) (spec/valid? ::age 420))
(println (loop [n 20 acc 1N] (if (zero? n) acc (recur (dec n) (* acc n)))))
(println (try (/ 1 0) (catch ArithmeticException e (.getMessage e))))
(let [{:keys [x y] :or {y 7}} {:x 1}] (println (+ x y) (-> x inc (* 3)) (->> [1 2 3] (map #(* % %)) (apply +))))
(def counter (atom 0))
(dotimes [_ 5] (swap! counter + 2))
(println @counter @(delay :once) (deref (volatile! 3)))
(println (pr-str {:ratio 2/3 :char \a :nested '(1 (2 [3]))}) (read-string "[1 #{2} \"x\"]"))
(println (persistent! (reduce conj! (transient []) (range 40))))
