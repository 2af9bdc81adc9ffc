//! Values for the fields with `@Setting`.

use errors::{Error, codes};

use crate::model::{AdviceClass, TYPES};

/// A field and its initial value, in place of that of the source.
#[derive(Debug, Clone, PartialEq)]
pub struct Initial {
    /// The field's name.
    pub field: String,
    /// The field's descriptor.
    pub descriptor: String,
    /// The value.
    pub value: Constant,
}

/// A value of a field.
#[derive(Debug, Clone, PartialEq)]
pub enum Constant {
    /// An `int`, `short`, `byte`, `char` or `boolean`.
    Int(i32),
    /// A `float`.
    Float(f32),
    /// A `long`.
    Long(i64),
    /// A `double`.
    Double(f64),
    /// A `String`.
    Text(String),
}

/// Returns the values of `NAME=VALUE` or `CLASS.NAME=VALUE` for each class with advice.
///
/// # Errors
/// `H0741` for a text of another form, a field that no class has, or a value of another type.
pub fn initial(advice: &[AdviceClass], given: &[String]) -> Result<Vec<Vec<Initial>>, Error> {
    let mut all = vec![Vec::new(); advice.len()];
    for text in given {
        let Some((name, value)) = text.split_once('=') else {
            return Err(
                Error::mistake(codes::H0741, format!("`{text}` sets no field of advice")).with(
                    "expected",
                    "NAME=VALUE, or CLASS.NAME=VALUE, such as `SlowSql.millis=100`",
                ),
            );
        };
        let (class, field) = name.rsplit_once('.').unwrap_or(("", name));
        let mut is_found = false;
        for (advice, initial) in advice.iter().zip(&mut all) {
            let binary = advice.name.replace('/', ".");
            let simple = binary.rsplit('.').next().unwrap_or_default();
            if !(class.is_empty() || class == binary || class == simple) {
                continue;
            }
            for setting in advice.settings.iter().filter(|it| it.name == field) {
                is_found = true;
                let value = constant(&setting.descriptor, value).ok_or_else(|| {
                    Error::mistake(codes::H0741, format!("`{value}` is no value of `{name}`"))
                        .with("expected", type_name(&setting.descriptor))
                        .with("place", setting.at.clone())
                })?;
                initial.push(Initial {
                    field: setting.name.clone(),
                    descriptor: setting.descriptor.clone(),
                    value,
                });
            }
        }
        if !is_found {
            let known = advice.iter().flat_map(|advice| &advice.settings);
            let known: Vec<&str> = known.map(|setting| setting.name.as_str()).collect();
            let known = match known.is_empty() {
                true => "a static field with @Setting; the advice has none".to_owned(),
                false => known.join(", "),
            };
            return Err(Error::mistake(
                codes::H0741,
                format!("no field with @Setting is called `{name}`"),
            )
            .with("expected", known));
        }
    }
    Ok(all)
}

fn type_name(descriptor: &str) -> &'static str {
    let found = TYPES.iter().find(|(known, _)| *known == descriptor);
    found.map_or("a number or a text", |(_, name)| name)
}

fn constant(descriptor: &str, value: &str) -> Option<Constant> {
    let number = value.replace('_', "");
    Some(match descriptor {
        "Z" => Constant::Int(i32::from(value.parse::<bool>().ok()?)),
        "B" => Constant::Int(number.parse::<i8>().ok()?.into()),
        "S" => Constant::Int(number.parse::<i16>().ok()?.into()),
        "C" => {
            let mut units = value.encode_utf16();
            match (units.next(), units.next()) {
                (Some(unit), None) => Constant::Int(unit.into()),
                _ => return None,
            }
        }
        "I" => Constant::Int(number.parse().ok()?),
        "J" => Constant::Long(number.parse().ok()?),
        "F" => Constant::Float(number.parse().ok()?),
        "D" => Constant::Double(number.parse().ok()?),
        "Ljava/lang/String;" => Constant::Text(value.to_owned()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_has_the_type_of_its_field() {
        for (descriptor, text, expected) in [
            ("Z", "true", Some(Constant::Int(1))),
            ("Z", "1", None),
            ("B", "-128", Some(Constant::Int(-128))),
            ("B", "128", None),
            ("C", "x", Some(Constant::Int(120))),
            ("C", "xy", None),
            ("I", "1_000", Some(Constant::Int(1_000))),
            ("I", "1.5", None),
            ("J", "9000000000", Some(Constant::Long(9_000_000_000))),
            ("F", "1.5", Some(Constant::Float(1.5))),
            ("D", "-2", Some(Constant::Double(-2.0))),
            (
                "Ljava/lang/String;",
                "a=b",
                Some(Constant::Text("a=b".into())),
            ),
            ("Ljava/util/List;", "a", None),
        ] {
            assert_eq!(constant(descriptor, text), expected, "{descriptor} {text}");
        }
    }
}
