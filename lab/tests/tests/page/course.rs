//! Exercises, from the first page to "I made two leaders".

use habemus_lab_tests::{Browser, Setting};
use serde_json::json;

use crate::{assert_quiet, axe, run};

/// As somebody does who looks for a way: clicks the process, and what then offers itself.
async fn elect(browser: &Browser, process: u64) {
    browser.click(&format!("[data-process='{process}']")).await;
    browser
        .until(&format!("document.querySelector('[data-selected]')?.dataset.selected === '{process}'"))
        .await;
    browser.click("[name=do]").await;
    browser.click(&format!(".menu [data-act='elect {process}']")).await;
    browser.until("document.querySelector('.menu') === null").await;
}

#[test]
fn from_the_first_page_to_two_leaders_and_the_browser_remembers() {
    run(async {
        let browser = Browser::start(Setting::default()).await;
        browser.open("").await;
        // The first page says how to begin, and no longer when one has begun.
        assert_eq!(axe(&browser).await, json!([]));
        browser.click("[data-begin=two-leaders]").await;
        browser.until("document.querySelector('[data-exercise=two-leaders]') !== null").await;
        assert_eq!(browser.ask("document.querySelector('.welcome')").await, json!(null));
        elect(&browser, 1).await;
        elect(&browser, 3).await;
        browser.end().await;
        browser.until("document.querySelector('[data-solved=true]') !== null").await;
        assert_eq!(browser.ask("document.querySelectorAll('.process.leading').length").await, json!(2));
        // Another day. Whoever comes with a link wants to see what it leads to.
        browser.open("e=s1-chang-roberts").await;
        assert_eq!(browser.ask("document.querySelector('.welcome')").await, json!(null));
        let ticked = "[...document.querySelectorAll('[name=exercise] option')].some(option => \
            option.textContent.startsWith('✓'))";
        assert_eq!(browser.ask(ticked).await, json!(true));
        assert_quiet(&browser).await;
        browser.close().await;
    });
}

#[test]
fn a_question_comes_before_its_answer_and_a_scenario_is_edited_to_solve_another() {
    run(async {
        let browser = Browser::start(Setting::default()).await;
        browser.open("x=follow-the-ring").await;
        browser.click("[name=end]").await;
        for (event, choice) in [(1, 1), (2, 0), (11, 2)] {
            browser
                .until(&format!(
                    "document.querySelector('[data-cursor]').dataset.cursor === '{event}' && \
                document.querySelector('.question') !== null"
                ))
                .await;
            browser.click(&format!("[data-choice='{choice}']")).await;
            browser.until("document.querySelector('.verdict-line.right') !== null").await;
            browser.click("[name=end]").await;
        }
        browser.until("document.querySelector('[data-solved=true]') !== null").await;
        browser.open("x=most-messages").await;
        browser.end().await;
        browser.until("document.querySelector('.objections') !== null").await;
        browser.click("[name=edit-exercise]").await;
        browser.until("document.querySelector('[name=scenario-text]') !== null").await;
        let edit = "(() => { const text = document.querySelector('[name=scenario-text]'); \
                    text.value = text.value.replace(/^(ids|processes) = .*$/m, 'ids = [8, 7, 6, 5, 4, 3, 2, \
                    1]'); \
                    text.dispatchEvent(new Event('input', { bubbles: true })); return 1; })()";
        browser.ask(edit).await;
        browser.click("[name=apply]").await;
        browser.until("document.querySelector('[name=scenario-text]') === null").await;
        browser.end().await;
        browser.until("document.querySelector('[data-solved=true]') !== null").await;
        browser.close().await;
    });
}

#[test]
fn a_link_for_a_class_hides_what_is_ticked() {
    run(async {
        let browser = Browser::start(Setting::default()).await;
        browser.open("x=two-leaders&hide=next,check,files,properties").await;
        for hidden in [".next", ".checking", ".files", "[data-property]"] {
            assert_eq!(
                browser.ask(&format!("document.querySelector('{hidden}')")).await,
                json!(null),
                "{hidden}"
            );
        }
        browser.click("[name=teacher]").await;
        browser.click("[name=hide-cost]").await;
        browser.ask("(navigator.clipboard.writeText = async (text) => { window.copied = text; }, 1)").await;
        browser.click("[name=copy-for-class]").await;
        browser.until("window.copied?.includes('hide=cost') === true").await;
        browser.close().await;
    });
}
