//! Where a source can be changed, and how: general operators that know nothing of the algorithm.

use std::collections::BTreeSet;
use std::ops::Range;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Block, Expr, ExprBinary, Lit, Stmt, UnOp};

/// A place in a source, and what could stand there instead.
#[derive(Debug)]
pub struct Site {
    pub range: Range<usize>,
    pub form: Form,
    pub function: String,
    pub alternatives: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// An expression, which becomes another.
    Expression,
    /// A statement, which is left out.
    Statement,
}

/// All sites of a source, tests and constants aside.
pub fn sites(text: &str) -> syn::Result<Vec<Site>> {
    let file = syn::parse_file(text)?;
    let mut finder = Finder { text, sites: Vec::new(), function: String::new(), parameters: BTreeSet::new() };
    finder.visit_file(&file);
    Ok(finder.sites)
}

struct Finder<'a> {
    text: &'a str,
    sites: Vec<Site>,
    function: String,
    /// The names that the function's parameters have.
    parameters: BTreeSet<String>,
}

impl Finder<'_> {
    fn source(&self, node: &impl Spanned) -> &str {
        &self.text[node.span().byte_range()]
    }

    fn add(&mut self, node: &impl Spanned, form: Form, alternatives: Vec<String>) {
        if !alternatives.is_empty() {
            let range = node.span().byte_range();
            self.sites.push(Site { range, form, function: self.function.clone(), alternatives });
        }
    }

    fn function(&mut self, signature: &syn::Signature, block: &Block) {
        if signature.constness.is_some() {
            return;
        }
        let name = std::mem::replace(&mut self.function, signature.ident.to_string());
        let parameters = signature.inputs.iter().filter_map(|input| match input {
            syn::FnArg::Typed(typed) => match &*typed.pat {
                syn::Pat::Ident(name) => Some(name.ident.to_string()),
                _ => None,
            },
            syn::FnArg::Receiver(_) => None,
        });
        let parameters = std::mem::replace(&mut self.parameters, parameters.collect());
        self.block(block, matches!(signature.output, syn::ReturnType::Default));
        (self.function, self.parameters) = (name, parameters);
    }

    /// A block; whether it has no value.
    fn block(&mut self, block: &Block, is_unit: bool) {
        for (index, statement) in block.stmts.iter().enumerate() {
            let is_last = index + 1 == block.stmts.len();
            match statement {
                Stmt::Expr(expression, None) if is_last && !is_unit => self.visit_expr(expression),
                Stmt::Expr(expression, _) => self.statement(statement, expression),
                other => visit::visit_stmt(self, other),
            }
        }
    }

    /// An expression without a value: it can be left out.
    fn statement(&mut self, whole: &impl Spanned, expression: &Expr) {
        match expression {
            Expr::Call(_) | Expr::MethodCall(_) | Expr::Assign(_) => {
                self.add(whole, Form::Statement, vec![String::new()]);
                self.visit_expr(expression);
            }
            Expr::Binary(_) => {
                self.add(whole, Form::Statement, vec![String::new()]);
                self.visit_expr(expression);
            }
            Expr::If(branch) => {
                self.condition(&branch.cond);
                self.block(&branch.then_branch, true);
                if let Some((_, otherwise)) = &branch.else_branch {
                    match &**otherwise {
                        Expr::Block(block) => self.block(&block.block, true),
                        other => self.statement(other, other),
                    }
                }
            }
            Expr::Match(choice) => {
                self.visit_expr(&choice.expr);
                for arm in &choice.arms {
                    if let Some((_, guard)) = &arm.guard {
                        self.condition(guard);
                    }
                    self.statement(&*arm.body, &arm.body);
                }
            }
            Expr::Block(block) => self.block(&block.block, true),
            Expr::ForLoop(each) => {
                self.visit_expr(&each.expr);
                self.block(&each.body, true);
            }
            other => self.visit_expr(other),
        }
    }

    /// A condition can be turned round.
    fn condition(&mut self, condition: &Expr) {
        let says = self.source(condition).to_owned();
        let is_comparison = matches!(condition, Expr::Binary(binary) if !others(&binary.op).is_empty());
        if !has_let(condition) && !is_comparison && !matches!(condition, Expr::Unary(_)) {
            self.add(condition, Form::Expression, vec![format!("!({says})")]);
        }
        self.visit_expr(condition);
    }

    /// A value that is handed on: another's with the same name may be taken.
    fn value(&mut self, value: &Expr) {
        let other = match value {
            Expr::Field(field) => match (&*field.base, &field.member) {
                (Expr::Path(base), syn::Member::Named(name)) if base.path.is_ident("self") => {
                    self.parameters.contains(&name.to_string()).then(|| name.to_string())
                }
                _ => None,
            },
            Expr::Path(path) => match path.path.get_ident() {
                Some(name) if name == "from" => Some("cx.me()".to_owned()),
                Some(name) if self.parameters.contains(&name.to_string()) && name != "cx" => {
                    Some(format!("self.{name}"))
                }
                _ => None,
            },
            Expr::Lit(literal) => match &literal.lit {
                Lit::Int(number) => number
                    .base10_parse::<u64>()
                    .ok()
                    .map(|value| format!("{}{}", if value == 1 { 0 } else { value + 1 }, number.suffix())),
                Lit::Bool(truth) => Some((!truth.value).to_string()),
                _ => None,
            },
            _ => None,
        };
        self.add(value, Form::Expression, other.into_iter().collect());
    }
}

fn has_let(expression: &Expr) -> bool {
    match expression {
        Expr::Let(_) => true,
        Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        _ => false,
    }
}

/// What could stand instead of an operator.
fn others(operator: &BinOp) -> &'static [&'static str] {
    match operator {
        BinOp::Eq(_) => &["!="],
        BinOp::Ne(_) => &["=="],
        BinOp::Lt(_) => &["<=", ">="],
        BinOp::Le(_) => &["<", ">"],
        BinOp::Gt(_) => &[">=", "<="],
        BinOp::Ge(_) => &[">", "<"],
        BinOp::And(_) => &["||"],
        BinOp::Or(_) => &["&&"],
        BinOp::Add(_) => &["-"],
        BinOp::Sub(_) => &["+"],
        BinOp::Mul(_) => &["+"],
        BinOp::Div(_) => &["*"],
        BinOp::AddAssign(_) => &["-="],
        BinOp::SubAssign(_) => &["+="],
        BinOp::BitAndAssign(_) => &["|="],
        BinOp::BitOrAssign(_) => &["&="],
        _ => &[],
    }
}

/// Methods that could be another.
const METHODS: [(&str, &str); 15] = [
    ("max", "min"),
    ("is_some", "is_none"),
    ("is_some_and", "is_none_or"),
    ("is_ok", "is_err"),
    ("any", "all"),
    ("first", "last"),
    ("pop_front", "pop_back"),
    ("push_back", "push_front"),
    ("pop_first", "pop_last"),
    ("first_key_value", "last_key_value"),
    ("max_by_key", "min_by_key"),
    ("successor", "predecessor"),
    ("front", "back"),
    ("insert", "remove"),
    ("less_than", "greater_than"),
];

/// How something is shown breaks no rule, and a false symmetry is found out by the checker itself.
const NO_RULES: [&str; 4] = ["Debug", "Display", "RotationSymmetric", "ShiftInvariant"];

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_test(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let name = item.trait_.as_ref().and_then(|(_, path, _)| path.segments.last());
        let is_rule = name.is_none_or(|name| NO_RULES.iter().all(|other| name.ident != other));
        if !is_test(&item.attrs) && is_rule {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}

    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}

    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}

    fn visit_type(&mut self, _: &'ast syn::Type) {}

    fn visit_pat(&mut self, _: &'ast syn::Pat) {}

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_test(&item.attrs) {
            self.function(&item.sig, &item.block);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_test(&item.attrs) {
            self.function(&item.sig, &item.block);
        }
    }

    fn visit_expr_if(&mut self, branch: &'ast syn::ExprIf) {
        self.condition(&branch.cond);
        self.visit_block(&branch.then_branch);
        if let Some((_, otherwise)) = &branch.else_branch {
            self.visit_expr(otherwise);
        }
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        if let Some((_, guard)) = &arm.guard {
            self.condition(guard);
        }
        self.visit_expr(&arm.body);
    }

    fn visit_block(&mut self, block: &'ast Block) {
        self.block(block, false);
    }

    fn visit_expr_binary(&mut self, binary: &'ast ExprBinary) {
        let (left, right) = (self.source(&binary.left).to_owned(), self.source(&binary.right).to_owned());
        let is_chain =
            matches!(binary.op, BinOp::And(_)) && (has_let(&binary.left) || has_let(&binary.right));
        if !is_chain {
            let mut alternatives: Vec<String> =
                others(&binary.op).iter().map(|other| format!("{left} {other} {right}")).collect();
            if matches!(binary.op, BinOp::And(_) | BinOp::Or(_)) {
                alternatives.extend([left, right]);
            }
            self.add(binary, Form::Expression, alternatives);
        }
        let is_assignment = self.source(&binary.op).ends_with('=')
            && !matches!(binary.op, BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Le(_) | BinOp::Ge(_));
        if !is_assignment && !matches!(binary.op, BinOp::And(_) | BinOp::Or(_)) {
            self.value(&binary.left);
        }
        if !matches!(binary.op, BinOp::And(_) | BinOp::Or(_)) {
            self.value(&binary.right);
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_unary(&mut self, unary: &'ast syn::ExprUnary) {
        if let UnOp::Not(_) = unary.op {
            let inner = self.source(&*unary.expr).to_owned();
            self.add(unary, Form::Expression, vec![inner]);
        }
        visit::visit_expr_unary(self, unary);
    }

    fn visit_expr_assign(&mut self, assign: &'ast syn::ExprAssign) {
        self.value(&assign.right);
        self.visit_expr(&assign.right);
    }

    fn visit_field_value(&mut self, field: &'ast syn::FieldValue) {
        if field.colon_token.is_some() {
            self.value(&field.expr);
            self.visit_expr(&field.expr);
        }
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if let Expr::Path(path) = &*call.func
            && path.path.is_ident("Some")
        {
            self.add(call, Form::Expression, vec!["None".to_owned()]);
        }
        call.args.iter().for_each(|argument| self.value(argument));
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let name = call.method.to_string();
        let pairs = METHODS.iter().flat_map(|&(one, other)| [(one, other), (other, one)]);
        let (whole, at) = (call.span().byte_range(), call.method.span().byte_range());
        let renamed = |other: &str| {
            format!("{}{other}{}", &self.text[whole.start..at.start], &self.text[at.end..whole.end])
        };
        let mut alternatives: Vec<String> =
            pairs.filter(|(one, _)| *one == name).map(|(_, other)| renamed(other)).collect();
        if name.starts_with("contains") || name.starts_with("is_") {
            alternatives.push(format!("!{}", self.source(call)));
        }
        self.add(call, Form::Expression, alternatives);
        call.args.iter().for_each(|argument| self.value(argument));
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_macro(&mut self, call: &'ast syn::ExprMacro) {
        if call.mac.path.is_ident("matches") {
            let says = self.source(call).to_owned();
            self.add(call, Form::Expression, vec![format!("!{says}")]);
        }
    }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || matches!(&attribute.meta, syn::Meta::List(list) if list.tokens.to_string() == "test")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(String, String)> {
        let sites = sites(text).expect("it is Rust");
        let pairs = |site: Site| {
            let before = text[site.range].to_owned();
            site.alternatives.into_iter().map(move |after| (before.clone(), after)).collect::<Vec<_>>()
        };
        sites.into_iter().flat_map(pairs).collect()
    }

    #[test]
    fn rules_of_every_sort_can_be_broken() {
        let text = "impl P { fn on_vote(&mut self, term: u64) {
            if term < self.term { return; }
            self.term = term;
            match self.role { Role::A if self.is_late() => self.act(1), _ => {} }
        } }";
        let found = found(text);
        for (before, after) in [
            ("term < self.term", "term <= self.term"),
            ("term < self.term", "term >= self.term"),
            ("self.term = term;", ""),
            ("self.is_late()", "!(self.is_late())"),
            ("self.act(1)", ""),
            ("1", "0"),
        ] {
            let pair = (before.to_owned(), after.to_owned());
            assert!(found.contains(&pair), "{pair:?} is not in {found:#?}");
        }
    }

    #[test]
    fn tests_constants_and_patterns_are_left_alone() {
        let text = "const N: u64 = 1 + 2; #[cfg(test)] mod tests { fn f() { g(1); } }
            fn h(x: u64) -> bool { let a: [u8; 3] = b; match x { 1 => c, _ => d } }";
        assert_eq!(found(text), []);
    }
}
