/** What happens to the page, or the process, around a transport. */
export interface PageListener {
  /** The page is about to go: what is closed from here on has no time to linger. */
  hiding(): void;
  /** The page goes; called after every other listener has had its say. */
  hide(): void;
  /** The page is back from the back/forward cache. */
  show(): void;
  /** The network is back. */
  online(): void;
}

/** Watches the page until `signal` aborts; without one (Node) nothing ever happens. */
export function watchPage(listener: PageListener, signal: AbortSignal): void {
  const page: Partial<Pick<EventTarget, 'addEventListener'>> = globalThis;
  if (!page.addEventListener) return;
  const on = (type: string, react: (event: Event) => void, options?: AddEventListenerOptions) =>
    page.addEventListener?.(type, react, { signal, ...options });
  // Goodbyes go over the links, so the links have to go last: a listener that is added while the
  // event is still on its way down is the last one to be called on its way up.
  const hide = () => listener.hide();
  const hiding = () => {
    listener.hiding();
    on('pagehide', hide, { once: true });
  };
  on('pagehide', hiding, { capture: true });
  on('pageshow', (event) => {
    if ((event as PageTransitionEvent).persisted) listener.show();
  });
  on('online', () => listener.online());
}
