//! Every report that the program writes against `docs/report.schema.json`: all fields that must be there are, of the right
//! type, and none is there that the schema does not know.

use serde_json::Value;

use super::desk::Desk;

fn published() -> Value {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/report.schema.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn reports_of_every_kind_follow_the_published_schema() {
    let runs: [&[&str]; 9] = [
        &[],
        &["--emit", "all"],
        &["--paper", "--beta", "1"],
        &["--method", "unary"],
        &["--method", "mean-field"],
        &["--method", "fbp"],
        &["--solver", "divide-conquer", "--gamma", "0"],
        &["--temperature", "fit"],
        &["--prior", "prior.npy", "--max-iterations", "1"],
    ];
    let (desk, schema) = (Desk::with_strokes(), published());
    desk.save_array("prior.npy", |x, _| 0.1 + 0.03 * x as f64);
    for arguments in runs {
        desk.segment(arguments);
        check(&desk.report("lfield-out"), &schema, &schema, "report");
    }
}

#[test]
fn a_wrong_report_does_not() {
    let (desk, schema) = (Desk::with_strokes(), published());
    desk.segment(&[]);
    let report = desk.report("lfield-out");
    let spoils: [fn(&mut Value); 4] = [
        |report| report["solve"]["gap"] = "small".into(),
        |report| report["input"]["width"] = Value::Null,
        |report| report["map"]["colour"] = 1.into(),
        |report| drop(report.as_object_mut().unwrap().remove("bounds")),
    ];
    for spoil in spoils {
        let mut wrong = report.clone();
        spoil(&mut wrong);
        assert!(complaint(&wrong, &schema, &schema, "report").is_some(), "{wrong}");
    }
}

fn check(value: &Value, schema: &Value, root: &Value, place: &str) {
    if let Some(complaint) = complaint(value, schema, root, place) {
        panic!("{complaint}");
    }
}

/// The first place where `value` does not follow `schema`, as far as the published schema uses the language.
fn complaint(value: &Value, schema: &Value, root: &Value, place: &str) -> Option<String> {
    if let Some(reference) = schema["$ref"].as_str() {
        return complaint(value, root.pointer(reference.trim_start_matches('#')).unwrap(), root, place);
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        let wrong: Vec<String> = choices.iter().map_while(|choice| complaint(value, choice, root, place)).collect();
        return (wrong.len() == choices.len()).then(|| wrong.join(" and "));
    }
    let allowed = match &schema["type"] {
        Value::Array(types) => types.iter().any(|name| is_of(value, name)),
        name => is_of(value, name),
    };
    if !allowed {
        return Some(format!("{place} is {value}, not of type {}", schema["type"]));
    }
    if let Value::Array(items) = value {
        return items
            .iter()
            .enumerate()
            .find_map(|(i, item)| complaint(item, &schema["items"], root, &format!("{place}[{i}]")));
    }
    let fields = value.as_object()?;
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    if let Some(missing) = required.into_iter().find(|&name| !fields.contains_key(name)) {
        return Some(format!("{place}.{missing} is missing"));
    }
    fields.iter().find_map(|(name, field)| match &schema["properties"][name] {
        Value::Null => Some(format!("{place}.{name} is not in the schema")),
        inner => complaint(field, inner, root, &format!("{place}.{name}")),
    })
}

fn is_of(value: &Value, name: &Value) -> bool {
    match name.as_str().expect("the name of a type") {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("a type that this test does not know: {other}"),
    }
}
