//! The lab beside the story, open at the run that went wrong.

use habemus_page::Page;

/// The run without tokens, as the lab knows it; a test sees to it that it is the one that was told.
const WITHOUT_TOKENS: &str = "e=s4-timeout-hurts";

/// Whether a browser is to show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Browser {
    Open,
    Leave,
}

/// Serves the lab until this program ends; gives the address at which the run is seen.
pub(crate) fn open(browser: Browser) -> Result<String, String> {
    let page = Page::find(None)?.ok_or("its page is not installed")?;
    let (listener, port) = habemus_page::listen_where_expected()?;
    std::thread::spawn(move || habemus_page::serve(page, &listener, port));
    let address = format!("http://127.0.0.1:{port}/#{WITHOUT_TOKENS}");
    if browser == Browser::Open {
        habemus_page::open_browser(&address);
    }
    Ok(address)
}
