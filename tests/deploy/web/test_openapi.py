"""The description names every way there is, and every status it can answer with."""

from starlette.routing import Route

from coterie.deploy.web.app import shown, written
from coterie.deploy.web.openapi import DESCRIPTION


def test_it_names_every_way_but_itself_and_the_page():
    ways = {(route.path, method.lower()) for route in [*shown(None), *written(None)] for method in kinds(route)}
    told = {(path, method) for path, methods in DESCRIPTION["paths"].items() for method in methods}
    assert told == ways - {("/", "get"), ("/openapi.json", "get")}


def kinds(route: Route):
    return set(route.methods) - {"HEAD"}


def test_writing_is_told_to_need_the_token():
    for methods in DESCRIPTION["paths"].values():
        for method, way in methods.items():
            assert ("security" in way) == (method != "get")
            assert ("401" in way["responses"]) == (method != "get")


def test_rewards_can_be_refused_in_every_way_that_is_tested(place):
    told = set(DESCRIPTION["paths"]["/v1/decisions/{id}/reward"]["put"]["responses"])
    assert told == {"204", "401", "403", "404", "409", "410", "413", "421", "422"}
    assert place("GET", "/openapi.json").json == DESCRIPTION
