/** The element of the page with that id. Throws when there is none: the page and the code differ. */
export function byId<E extends Element = HTMLElement>(id: string): E {
  const element = document.getElementById(id);
  if (!element) throw new Error(`The page has no element #${id}.`);
  return element as unknown as E;
}

type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

export function html<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  setAttributes(element, attributes);
  element.append(...children);
  return element;
}

export function svg<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): SVGElementTagNameMap[Name] {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  setAttributes(element, attributes);
  element.append(...children);
  return element;
}

/** `undefined` and `false` remove an attribute. */
export function setAttributes(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
}

/** Writes only what changed, so that screen readers and selections are left in peace. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * Makes the children of `parent` match `keys`, in order: keeps those that stay, so that they can
 * move smoothly and keep the focus.
 */
export function keyed<E extends Element>(
  parent: Element,
  keys: readonly string[],
  make: (key: string) => E,
): E[] {
  const present = new Map(
    [...parent.children].map((child) => [child.getAttribute('data-key'), child]),
  );
  for (const [key, child] of present) if (key === null || !keys.includes(key)) child.remove();
  return keys.map((key, index) => {
    const element = (present.get(key) as E | undefined) ?? make(key);
    element.setAttribute('data-key', key);
    if (parent.children[index] !== element)
      parent.insertBefore(element, parent.children[index] ?? null);
    return element;
  });
}
